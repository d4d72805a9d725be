-- Where the time of an ordinary iteration goes: the mean over the middle half of the steady periods.
--
-- A mean of partitions is a partition, so the parts sum to the total exactly, which medians of parts do not; the outer
-- quarters are left out so that one long iteration does not colour the picture of all.
--
-- reads: budget_part, iteration_window, device, examined_iteration
-- row:   one part on one device
-- store: view
--
-- device_index  BIGINT   the device
-- part          VARCHAR  compute, communication (exposed), copy (exposed) or idle
-- role          VARCHAR  role of the phase, for compute, NULL where not known
-- cause         VARCHAR  cause, for idle
-- ms            DOUBLE   time in an iteration
-- share_pct     DOUBLE   share of the iteration, in percent
-- iterations    BIGINT   iterations that the mean is taken over
WITH window_length AS (
    SELECT b.device_id, b.iteration_index, sum(b.ns)::BIGINT AS window_ns
    FROM budget_part AS b
    INNER JOIN iteration_window AS w ON b.device_id = w.device_id AND b.iteration_index = w.iteration_index
    INNER JOIN examined_iteration AS e ON w.device_id = e.device_id AND w.iteration_index = e.iteration_index
    -- the last one's window ends with its last operation: it has no gap to the next
    WHERE w.is_steady AND w.period_ns IS NOT NULL AND NOT e.is_lead
    GROUP BY ALL
),

quartile AS (
    SELECT
        device_id,
        quantile_disc(window_ns, 0.25) AS low_ns,
        quantile_disc(window_ns, 0.75) AS high_ns
    FROM window_length
    GROUP BY device_id
),

ordinary AS (
    SELECT w.device_id, w.iteration_index, count(*) OVER (PARTITION BY w.device_id) AS iterations
    FROM window_length AS w
    INNER JOIN quartile AS q ON w.device_id = q.device_id AND w.window_ns BETWEEN q.low_ns AND q.high_ns
),

part_mean AS (
    SELECT b.device_id, b.part, b.role, b.cause, sum(b.ns) / 1e6 / o.iterations AS ms, o.iterations
    FROM budget_part AS b
    INNER JOIN ordinary AS o ON b.device_id = o.device_id AND b.iteration_index = o.iteration_index
    GROUP BY b.device_id, b.part, b.role, b.cause, o.iterations
)

SELECT
    d.device_index::BIGINT AS device_index,
    p.part,
    p.role,
    p.cause,
    p.ms,
    100 * p.ms / nullif(sum(p.ms) OVER (PARTITION BY p.device_id), 0) AS share_pct,
    p.iterations
FROM part_mean AS p
INNER JOIN device AS d ON p.device_id = d.device_id
WHERE p.ms > 0
ORDER BY device_index, ms DESC, part, role, cause
