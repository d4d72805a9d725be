-- Stretches in which a device that takes part in collectives computed, in order, for telling what hides them.
--
-- reads: compute_stretch, communication_op
-- row:   one stretch
--
-- device_id  BIGINT  the device
-- start_ns   BIGINT  start
-- end_ns     BIGINT  end
-- before_ns  BIGINT  computing time of the device before this stretch
SELECT
    device_id,
    start_ns,
    end_ns,
    coalesce(sum(end_ns - start_ns) OVER (
        PARTITION BY device_id ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0)::BIGINT AS before_ns
FROM compute_stretch
WHERE device_id IN (SELECT device_id FROM communication_op)
