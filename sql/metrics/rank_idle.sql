-- Why each device is idle in a steady iteration, cause by cause.
--
-- reads: idle_cause, iteration_window, examined_iteration
-- row:   one cause on one device
--
-- device_id   BIGINT   the device
-- cause       VARCHAR  dependency, sync, allocator, launch, input, host, profiler or unknown
-- mean_ns     BIGINT   idle time of this cause in the mean steady iteration
-- open_range  VARCHAR  the range on the host that was open for most of it, NULL where none was
WITH steady AS (
    SELECT w.device_id, w.iteration_index, count(*) OVER (PARTITION BY w.device_id) AS iterations
    FROM iteration_window AS w
    INNER JOIN examined_iteration AS e ON w.device_id = e.device_id AND w.iteration_index = e.iteration_index
    WHERE w.is_steady AND NOT e.is_lead
),

by_range AS (
    SELECT c.device_id, c.cause, c.open_range, sum(c.idle_ns) AS idle_ns, any_value(s.iterations) AS iterations
    FROM idle_cause AS c
    INNER JOIN steady AS s ON c.device_id = s.device_id AND c.iteration_index = s.iteration_index
    GROUP BY c.device_id, c.cause, c.open_range
)

SELECT
    device_id,
    cause,
    (sum(idle_ns) / any_value(iterations))::BIGINT AS mean_ns,
    arg_max(open_range, idle_ns) AS open_range
FROM by_range
GROUP BY device_id, cause
