-- What was recorded, counted over the whole trace.
--
-- reads: gpu_op, api_call, api_kind, host_range, host_mark
-- row:   the run
--
-- kernels         BIGINT  kernels
-- memcpys         BIGINT  memory copies of every kind
-- memsets         BIGINT  memsets
-- graph_launches  BIGINT  launches of CUDA graphs: the calls, or the graphs traced as one operation where those are more
-- api_calls       BIGINT  CUDA calls of the host
-- ranges          BIGINT  ranges of programs and libraries
-- marks           BIGINT  instants that programs marked
-- start_ns        BIGINT  first event on the trace clock, NULL where there is none
-- end_ns          BIGINT  last event on the trace clock, NULL where there is none
WITH operations AS (
    SELECT
        count(*) FILTER (kind = 'kernel') AS kernels,
        count(*) FILTER (kind = 'memcpy') AS memcpys,
        count(*) FILTER (kind = 'memset') AS memsets,
        count(*) FILTER (kind = 'graph') AS graphs,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns
    FROM gpu_op
),

calls AS (
    SELECT
        count(*) AS api_calls,
        count(*) FILTER (api_kind.kind = 'graph_launch') AS graph_calls,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns
    FROM api_call
    LEFT JOIN api_kind ON api_call.name_id = api_kind.name_id
),

ranges AS (
    SELECT count(*) AS ranges, min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM host_range
),

marks AS (
    SELECT count(*) AS marks, min(at_ns) AS start_ns, max(at_ns) AS end_ns FROM host_mark
)

SELECT
    o.kernels,
    o.memcpys,
    o.memsets,
    greatest(c.graph_calls, o.graphs) AS graph_launches,
    c.api_calls,
    r.ranges,
    m.marks,
    least(o.start_ns, c.start_ns, r.start_ns, m.start_ns) AS start_ns,
    greatest(o.end_ns, c.end_ns, r.end_ns, m.end_ns) AS end_ns
FROM operations AS o
CROSS JOIN calls AS c
CROSS JOIN ranges AS r
CROSS JOIN marks AS m
