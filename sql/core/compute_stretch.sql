-- Stretches in which a device computed, each with the phase of the operation that did: kernels and memsets that
-- don't communicate. They do not overlap: where several operations compute at once, the earliest counts.
--
-- reads: gpu_op, op_class, op_phase
-- row:   one operation, as far as it computes where no earlier one does
--
-- device_id  BIGINT   the device
-- phase      VARCHAR  phase of the operation, NULL where it belongs to none
-- start_ns   BIGINT   start
-- end_ns     BIGINT   end
WITH freed AS (
    SELECT
        o.device_id,
        p.phase,
        -- running max, so that overlapping operations count once
        greatest(o.start_ns, coalesce(max(o.end_ns) OVER (
            PARTITION BY o.device_id
            ORDER BY o.start_ns, o.end_ns, o.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), o.start_ns)) AS start_ns,
        o.end_ns
    FROM gpu_op AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id AND c.op_class = 'compute'
    LEFT JOIN op_phase AS p ON o.op_id = p.op_id
)

SELECT device_id, phase, start_ns, end_ns
FROM freed
WHERE end_ns > start_ns
