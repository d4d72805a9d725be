-- What each name of operation cost in each steady iteration, by the time at which its operations started.
--
-- reads: gpu_op, op_name, device, iteration_window
-- row:   one name in one steady iteration on one device
--
-- device_index     BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- name             VARCHAR  full name
-- short_name       VARCHAR  name without its parameters
-- instances        BIGINT   operations
-- total_ns         BIGINT   their lengths, summed
SELECT
    d.device_index::BIGINT AS device_index,
    w.iteration_index::BIGINT AS iteration_index,
    n.name,
    any_value(n.short_name) AS short_name,
    count(*) AS instances,
    sum(o.end_ns - o.start_ns)::BIGINT AS total_ns
FROM iteration_window AS w
INNER JOIN gpu_op AS o ON w.device_id = o.device_id AND w.start_ns <= o.start_ns AND w.end_ns > o.start_ns
INNER JOIN op_name AS n ON o.name_id = n.name_id
INNER JOIN device AS d ON w.device_id = d.device_id
WHERE w.is_steady AND w.period_ns IS NOT NULL
GROUP BY d.device_index, w.iteration_index, n.name
