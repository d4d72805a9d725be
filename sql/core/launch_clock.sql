-- How much GPU work each process had launched by a given moment on the host.
--
-- reads: api_call, api_kind, launched_op, stream_capture
-- row:   one call that launched something, or one operation that it launched
--
-- process_id  BIGINT  the process
-- at_ns       BIGINT  start of the launching call
-- calls       BIGINT  launching calls up to then, this one included, whether or not their work was recorded
-- ops         BIGINT  operations recorded for them
-- gpu_ns      BIGINT  sum of the durations of those
WITH moment AS (
    -- what is captured into a graph does not run
    SELECT
        c.process_id,
        c.start_ns AS at_ns,
        (s.end_ns IS NULL OR c.start_ns > s.end_ns)::INTEGER AS calls,
        0 AS ops,
        0 AS gpu_ns
    FROM api_call AS c
    INNER JOIN api_kind AS k ON c.name_id = k.name_id
    ASOF LEFT JOIN stream_capture AS s ON c.process_id = s.process_id AND c.start_ns >= s.start_ns
    WHERE k.kind IN ('launch', 'graph_launch', 'copy', 'memset')
    UNION ALL
    SELECT process_id, call_start_ns, 0, 1, end_ns - start_ns
    FROM launched_op
    WHERE call_start_ns IS NOT NULL
)

-- rows of one moment are peers: each has the sums of all of them
SELECT
    process_id,
    at_ns,
    sum(calls) OVER so_far::BIGINT AS calls,
    sum(ops) OVER so_far::BIGINT AS ops,
    sum(gpu_ns) OVER so_far::BIGINT AS gpu_ns
FROM moment
WINDOW so_far AS (PARTITION BY process_id ORDER BY at_ns RANGE UNBOUNDED PRECEDING)
