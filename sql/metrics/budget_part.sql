-- What each iteration's window on a device was spent on. The parts of a window sum to its length exactly.
--
-- At each instant the first of these that applies counts: compute, communication that no compute hides,
-- copies that neither hides, idle. Where operations of several phases compute at once, the earliest counts.
--
-- reads: gpu_op, op_class, op_phase, busy_interval, idle_cause, iteration_window
-- row:   one part of one iteration on one device
--
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- part             VARCHAR  compute, communication (exposed), copy (exposed) or idle
-- role             VARCHAR  phase of the computing operations, NULL where they belong to none and for other parts
-- cause            VARCHAR  cause of idle time, NULL for other parts
-- ns               BIGINT   time
WITH classed AS (
    SELECT
        o.device_id,
        o.op_id,
        o.start_ns,
        o.end_ns,
        p.phase,
        CASE c.op_class WHEN 'communication' THEN 2 WHEN 'copy' THEN 3 ELSE 1 END AS layer
    FROM gpu_op AS o
    LEFT JOIN op_class AS c ON o.name_id = c.name_id
    LEFT JOIN op_phase AS p ON o.op_id = p.op_id
),

computing AS (
    SELECT
        device_id,
        phase,
        -- running max, so that overlapping operations count once
        greatest(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS start_ns,
        end_ns
    FROM classed
    WHERE layer = 1
    WINDOW
        earlier AS (
            PARTITION BY device_id ORDER BY start_ns, end_ns, op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

communicating AS (
    SELECT DISTINCT device_id FROM classed WHERE layer = 2
),

computing_or_communicating AS (
    SELECT
        c.device_id,
        greatest(c.start_ns, coalesce(max(c.end_ns) OVER earlier, c.start_ns)) AS start_ns,
        c.end_ns
    FROM classed AS c
    INNER JOIN communicating AS m ON c.device_id = m.device_id
    WHERE c.layer <= 2
    WINDOW
        earlier AS (
            PARTITION BY c.device_id
            ORDER BY c.start_ns, c.end_ns, c.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

stretch AS (
    SELECT 'compute' AS layer, device_id, coalesce(phase, '') AS phase, phase IS NULL AS is_unknown, start_ns, end_ns
    FROM computing
    UNION ALL
    SELECT 'communication', device_id, '', true, start_ns, end_ns FROM computing_or_communicating
    UNION ALL
    SELECT 'busy', device_id, '', true, start_ns, end_ns FROM busy_interval
),

-- the stretches of a layer and phase do not overlap, so that a running sum tells how much lies before any moment
summed AS (
    SELECT
        layer,
        device_id,
        phase,
        is_unknown,
        start_ns,
        end_ns,
        sum(end_ns - start_ns) OVER (
            PARTITION BY device_id, layer, phase, is_unknown ORDER BY start_ns ROWS UNBOUNDED PRECEDING
        ) - (end_ns - start_ns) AS before_ns
    FROM stretch
    WHERE end_ns > start_ns
),

border AS (
    SELECT
        w.device_id,
        w.iteration_index,
        s.layer,
        s.phase,
        s.is_unknown,
        unnest([w.start_ns, w.end_ns]) AS at_ns,
        unnest([-1, 1]) AS sign
    FROM iteration_window AS w
    INNER JOIN (SELECT DISTINCT device_id, layer, phase, is_unknown FROM summed) AS s ON w.device_id = s.device_id
),

within AS (
    SELECT
        b.device_id,
        b.iteration_index,
        b.layer,
        CASE WHEN NOT b.is_unknown THEN b.phase END AS phase,
        sum(b.sign * coalesce(s.before_ns + least(s.end_ns, b.at_ns) - s.start_ns, 0))::BIGINT AS ns
    FROM border AS b
    ASOF LEFT JOIN summed AS s
        ON
            b.device_id = s.device_id
            AND b.layer = s.layer
            AND b.phase = s.phase
            AND b.is_unknown = s.is_unknown
            AND b.at_ns >= s.start_ns
    GROUP BY ALL
),

covered AS (
    SELECT
        w.device_id,
        w.iteration_index,
        w.end_ns - w.start_ns AS window_ns,
        coalesce(sum(i.ns) FILTER (WHERE i.layer = 'compute'), 0) AS compute_ns,
        sum(i.ns) FILTER (WHERE i.layer = 'communication') AS communication_ns,
        coalesce(sum(i.ns) FILTER (WHERE i.layer = 'busy'), 0) AS busy_ns
    FROM iteration_window AS w
    LEFT JOIN within AS i ON w.device_id = i.device_id AND w.iteration_index = i.iteration_index
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
    FROM within
    WHERE layer = 'compute'
    UNION ALL
    SELECT device_id, iteration_index, 'communication', NULL, NULL, coalesce(communication_ns, compute_ns) - compute_ns
    FROM covered
    UNION ALL
    SELECT device_id, iteration_index, 'copy', NULL, NULL, busy_ns - coalesce(communication_ns, compute_ns) FROM covered
    UNION ALL
    SELECT device_id, iteration_index, 'idle', NULL, cause, ns FROM explained
    UNION ALL
    -- idle that no gap between operations explains, as after a window's last operation
    SELECT
        c.device_id,
        c.iteration_index,
        'idle',
        NULL,
        'unknown',
        c.window_ns - c.busy_ns - coalesce(sum(e.ns), 0)::BIGINT
    FROM covered AS c
    LEFT JOIN explained AS e ON c.device_id = e.device_id AND c.iteration_index = e.iteration_index
    GROUP BY c.device_id, c.iteration_index, c.window_ns, c.busy_ns
)

SELECT device_id, iteration_index, part, role, cause, sum(ns)::BIGINT AS ns
FROM part
GROUP BY ALL
HAVING sum(ns) > 0
