-- How much GPU work each process had launched when one of the user's ranges opened or closed, and by the end.
--
-- reads: api_call, api_kind, launched_op, stream_capture, user_range
-- row:   one such moment of one process
--
-- process_id  BIGINT  the process
-- at_ns       BIGINT  the moment; NULL for the end of the capture
-- calls       BIGINT  launching calls before it, whether or not their work was recorded
-- gpu_ns      BIGINT  sum of the durations of the operations recorded for them
WITH border AS (
    SELECT process_id, start_ns AS at_ns FROM user_range
    UNION
    -- what is launched at the moment of closing is launched within
    SELECT process_id, end_ns + 1 FROM user_range
),

launch AS (
    -- what is captured into a graph does not run
    SELECT
        c.process_id, c.start_ns AS at_ns, (s.end_ns IS NULL OR c.start_ns > s.end_ns)::INTEGER AS calls,
        0 AS gpu_ns
    FROM api_call AS c
    INNER JOIN api_kind AS k ON c.name_id = k.name_id
    ASOF LEFT JOIN stream_capture AS s ON c.process_id = s.process_id AND c.start_ns >= s.start_ns
    WHERE k.kind IN ('launch', 'graph_launch', 'copy', 'memset')
    UNION ALL
    SELECT process_id, call_start_ns, 0, end_ns - start_ns
    FROM launched_op
    WHERE call_start_ns IS NOT NULL
),

-- by the last border that each lies at or behind; what lies before all borders is behind the beginning of time
between_borders AS (
    SELECT
        l.process_id,
        coalesce(b.at_ns, -9223372036854775807) AS at_ns,
        sum(l.calls) AS calls,
        sum(l.gpu_ns) AS gpu_ns
    FROM launch AS l
    ASOF LEFT JOIN border AS b ON l.process_id = b.process_id AND l.at_ns >= b.at_ns
    GROUP BY ALL
),

step AS (
    SELECT process_id, at_ns, 0 AS calls, 0 AS gpu_ns FROM border
    UNION ALL
    SELECT process_id, at_ns, calls, gpu_ns FROM between_borders
),

summed AS (
    SELECT process_id, at_ns, sum(calls) AS calls, sum(gpu_ns) AS gpu_ns
    FROM step
    GROUP BY process_id, at_ns
)

SELECT
    process_id,
    at_ns,
    coalesce(sum(calls) OVER earlier, 0)::BIGINT AS calls,
    coalesce(sum(gpu_ns) OVER earlier, 0)::BIGINT AS gpu_ns
FROM summed
WINDOW earlier AS (PARTITION BY process_id ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
UNION ALL
SELECT process_id, NULL, sum(calls)::BIGINT, sum(gpu_ns)::BIGINT
FROM summed
GROUP BY process_id
