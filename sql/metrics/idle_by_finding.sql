-- The idle time of an iteration that each finding is to answer for. The last iteration has no gap behind it and is
-- left out.
--
-- reads: idle_cause, iteration_window, examined_iteration
-- row:   one finding on one device, over its steady iterations
--
-- device_id     BIGINT   the device
-- finding       VARCHAR  id of the finding, or profiler
-- median_ns     DOUBLE   idle time in the median iteration, iterations without any counted as zero
-- mean_ns       DOUBLE   idle time in the mean iteration
-- max_ns        BIGINT   idle time in the worst iteration
-- calls         DOUBLE   calls that held the host with such idle time behind them, an iteration
-- call_name     VARCHAR  the call with most of it, NULL where the host made none
-- role          VARCHAR  role of the operations that it held up most
-- open_range    VARCHAR  the range on the host that was open for most of it, NULL where none was
-- python_frame  VARCHAR  the Python code that the host was in for most of it, NULL where no stacks were recorded
WITH counted AS (
    SELECT w.device_id, w.iteration_index
    FROM iteration_window AS w
    INNER JOIN examined_iteration AS e ON w.device_id = e.device_id AND w.iteration_index = e.iteration_index
    WHERE w.is_steady AND w.period_ns IS NOT NULL AND NOT e.is_lead
),

-- all that is asked of a million pieces, at once
piece AS (
    SELECT
        c.device_id,
        c.iteration_index,
        c.finding,
        c.call_name,
        c.role,
        c.open_range,
        c.python_frame,
        sum(c.idle_ns) AS idle_ns
    FROM idle_cause AS c
    INNER JOIN counted AS w ON c.device_id = w.device_id AND c.iteration_index = w.iteration_index
    WHERE c.finding IS NOT NULL
    GROUP BY ALL
),

grid AS (
    SELECT w.device_id, w.iteration_index, f.finding
    FROM counted AS w
    INNER JOIN (SELECT DISTINCT device_id, finding FROM piece) AS f ON w.device_id = f.device_id
),

summed AS (
    SELECT device_id, iteration_index, finding, sum(idle_ns)::BIGINT AS idle_ns
    FROM piece
    GROUP BY ALL
),

holding AS (
    SELECT c.device_id, c.iteration_index, c.finding, count(DISTINCT c.call_id) AS calls
    FROM idle_cause AS c
    INNER JOIN counted AS w ON c.device_id = w.device_id AND c.iteration_index = w.iteration_index
    WHERE c.finding IS NOT NULL AND c.cause <> 'launch'
    GROUP BY ALL
),

figures AS (
    SELECT
        g.device_id,
        g.finding,
        median(coalesce(s.idle_ns, 0))::DOUBLE AS median_ns,
        avg(coalesce(s.idle_ns, 0)) AS mean_ns,
        max(coalesce(s.idle_ns, 0)) AS max_ns,
        avg(coalesce(h.calls, 0)) AS calls
    FROM grid AS g
    LEFT JOIN summed AS s
        ON g.device_id = s.device_id AND g.iteration_index = s.iteration_index AND g.finding = s.finding
    LEFT JOIN holding AS h
        ON g.device_id = h.device_id AND g.iteration_index = h.iteration_index AND g.finding = h.finding
    GROUP BY ALL
),

-- who has most of it: sums by name, of which the largest is taken
by_call AS (
    SELECT device_id, finding, call_name, sum(idle_ns) AS ns FROM piece WHERE call_name IS NOT NULL GROUP BY ALL
),

by_role AS (
    SELECT device_id, finding, role, sum(idle_ns) AS ns FROM piece WHERE role IS NOT NULL GROUP BY ALL
),

by_range AS (
    -- being between phases is a place as well
    SELECT device_id, finding, coalesce(open_range, '') AS open_range, sum(idle_ns) AS ns FROM piece GROUP BY ALL
),

by_frame AS (
    SELECT device_id, finding, python_frame, sum(idle_ns) AS ns FROM piece WHERE python_frame IS NOT NULL GROUP BY ALL
)

SELECT
    f.*,
    c.call_name,
    r.role,
    n.open_range,
    p.python_frame
FROM figures AS f
LEFT JOIN (SELECT device_id, finding, arg_max(call_name, ns) AS call_name FROM by_call GROUP BY ALL) AS c
    ON f.device_id = c.device_id AND f.finding = c.finding
LEFT JOIN (SELECT device_id, finding, arg_max(role, ns) AS role FROM by_role GROUP BY ALL) AS r
    ON f.device_id = r.device_id AND f.finding = r.finding
LEFT JOIN (SELECT device_id, finding, nullif(arg_max(open_range, ns), '') AS open_range FROM by_range GROUP BY ALL) AS n
    ON f.device_id = n.device_id AND f.finding = n.finding
LEFT JOIN (SELECT device_id, finding, arg_max(python_frame, ns) AS python_frame FROM by_frame GROUP BY ALL) AS p
    ON f.device_id = p.device_id AND f.finding = p.finding
