-- Stretches in which a device that takes part in collectives computed, in order, for telling what hides them: kernels and
-- memsets that don't communicate. They do not overlap: where several operations compute at once, the earliest counts.
--
-- reads: gpu_op, op_class, communication_op
-- row:   one stretch
--
-- device_id  BIGINT  the device
-- start_ns   BIGINT  start
-- end_ns     BIGINT  end
-- before_ns  BIGINT  computing time of the device before this stretch
WITH freed AS (
    SELECT
        o.device_id,
        -- running max, so that overlapping operations count once
        greatest(o.start_ns, coalesce(max(o.end_ns) OVER (
            PARTITION BY o.device_id
            ORDER BY o.start_ns, o.end_ns, o.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), o.start_ns)) AS start_ns,
        o.end_ns
    FROM gpu_op AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id AND c.op_class = 'compute'
    WHERE o.device_id IN (SELECT device_id FROM communication_op)
)

SELECT
    device_id,
    start_ns,
    end_ns,
    coalesce(sum(end_ns - start_ns) OVER (
        PARTITION BY device_id ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0)::BIGINT AS before_ns
FROM freed
WHERE end_ns > start_ns
