-- Calls that launched work of which the recording has no operation, without those captured into a CUDA graph.
--
-- reads: gpu_op, op_phase, launch_call
-- row:   one process that launched kernels, copies, memsets or graphs
--
-- process_id            BIGINT  the process
-- launches              BIGINT  calls that launch a kernel
-- copies_and_memsets    BIGINT  calls that copy or set memory
-- operations            BIGINT  operations of the process, linked to a call or not
-- lost_launches         BIGINT  kernel launches without an operation, though later calls have theirs, or none has
-- trailing_launches     BIGINT  kernel launches without an operation behind the last call that has one
-- empty_graph_launches  BIGINT  graph launches without an operation: all, or those before the last call that has one
WITH recorded AS (
    SELECT process_id, count(*) AS operations, max(call_start_ns) AS last_linked_ns FROM op_phase GROUP BY process_id
),

launch AS (
    SELECT
        c.process_id,
        c.kind,
        -- by correlation id, as some exports hold a call twice, one within the other
        NOT EXISTS (
            SELECT 1 FROM gpu_op AS o WHERE o.process_id = c.process_id AND o.correlation_id = c.correlation_id
        ) AS is_without,
        coalesce(c.start_ns > r.last_linked_ns, false) AS is_trailing
    FROM launch_call AS c
    LEFT JOIN recorded AS r ON c.process_id = r.process_id
),

counted AS (
    SELECT
        process_id,
        count(*) FILTER (kind = 'launch') AS launches,
        count(*) FILTER (kind IN ('copy', 'memset')) AS copies_and_memsets,
        count(*) FILTER (kind = 'launch' AND is_without AND NOT is_trailing) AS lost_launches,
        count(*) FILTER (kind = 'launch' AND is_without AND is_trailing) AS trailing_launches,
        count(*) FILTER (kind = 'graph_launch' AND is_without) AS graphs_without,
        count(*) FILTER (kind = 'graph_launch' AND is_without AND NOT is_trailing) AS early_graphs_without,
        count(*) FILTER (kind = 'graph_launch' AND NOT is_without) AS graphs_with
    FROM launch
    GROUP BY process_id
)

SELECT
    c.process_id,
    c.launches,
    c.copies_and_memsets,
    coalesce(r.operations, 0) AS operations,
    c.lost_launches,
    c.trailing_launches,
    CASE WHEN c.graphs_with = 0 THEN c.graphs_without ELSE c.early_graphs_without END AS empty_graph_launches
FROM counted AS c
LEFT JOIN recorded AS r ON c.process_id = r.process_id
