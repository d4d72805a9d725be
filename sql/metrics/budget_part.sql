-- What each iteration's window on a device was spent on. The parts of a window sum to its length exactly.
--
-- At each instant the first of these that applies counts: compute, communication that no compute hides,
-- copies that neither hides, idle. Where operations of several phases compute at once, the earliest counts.
--
-- reads: window_work, idle_cause, iteration_window, examined_iteration
-- row:   one part of one iteration on one device
--
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- part             VARCHAR  compute, communication (exposed), copy (exposed) or idle
-- role             VARCHAR  phase of the computing operations, NULL where they belong to none and for other parts
-- cause            VARCHAR  cause of idle time (unexamined: of a long capture's iterations not all are), NULL for other parts
-- ns               BIGINT   time
WITH covered AS (
    SELECT
        w.device_id,
        w.iteration_index,
        w.end_ns - w.start_ns AS window_ns,
        coalesce(sum(i.ns) FILTER (WHERE i.layer = 'compute'), 0) AS compute_ns,
        sum(i.ns) FILTER (WHERE i.layer = 'communication') AS communication_ns,
        coalesce(sum(i.ns) FILTER (WHERE i.layer = 'busy'), 0) AS busy_ns
    FROM iteration_window AS w
    LEFT JOIN window_work AS i ON w.device_id = i.device_id AND w.iteration_index = i.iteration_index
    GROUP BY ALL
),

explained AS (
    SELECT device_id, iteration_index, cause, sum(idle_ns)::BIGINT AS ns
    FROM idle_cause
    WHERE iteration_index IS NOT NULL
    GROUP BY ALL
),

part AS (
    SELECT device_id, iteration_index, 'compute' AS part, phase AS role, NULL AS cause, ns
    FROM window_work
    WHERE layer = 'compute'
    UNION ALL
    SELECT device_id, iteration_index, 'communication', NULL, NULL, coalesce(communication_ns, compute_ns) - compute_ns
    FROM covered
    UNION ALL
    SELECT device_id, iteration_index, 'copy', NULL, NULL, busy_ns - coalesce(communication_ns, compute_ns) FROM covered
    UNION ALL
    SELECT device_id, iteration_index, 'idle', NULL, cause, ns FROM explained
    UNION ALL
    -- idle that no gap between operations explains, as after a window's last operation, or that was not looked at
    SELECT
        c.device_id,
        c.iteration_index,
        'idle',
        NULL,
        CASE WHEN any_value(x.iteration_index) IS NULL THEN 'unexamined' ELSE 'unknown' END,
        c.window_ns - c.busy_ns - coalesce(sum(e.ns), 0)::BIGINT
    FROM covered AS c
    LEFT JOIN explained AS e ON c.device_id = e.device_id AND c.iteration_index = e.iteration_index
    LEFT JOIN examined_iteration AS x ON c.device_id = x.device_id AND c.iteration_index = x.iteration_index
    GROUP BY c.device_id, c.iteration_index, c.window_ns, c.busy_ns
)

SELECT device_id, iteration_index, part, role, cause, sum(ns)::BIGINT AS ns
FROM part
GROUP BY ALL
HAVING sum(ns) > 0
