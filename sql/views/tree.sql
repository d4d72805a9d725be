-- The tree of ranges by path, numbers in names folded (iter_#). Under a phase lies also what autograd's thread did for it.
--
-- reads: range_tree, process, name_role, gpu_op
-- row:   one path in one process
-- store: view
--
-- path_id         BIGINT   the path
-- parent_path_id  BIGINT   the path around it, NULL at the top
-- process_index   BIGINT   its process
-- is_main         BOOLEAN  whether its process used the GPU: data-loader workers do not
-- depth           BIGINT   paths around it
-- domain          VARCHAR  NVTX domain, '' for the default one
-- is_library      BOOLEAN  whether that is a library's
-- name            VARCHAR  name of its ranges, numbers replaced by # where they differ
-- instances       BIGINT   ranges
-- open_instances  BIGINT   of these, never closed within the capture
-- first_start_ns  BIGINT   opening of the first one on the trace clock
-- cpu_ms          DOUBLE   sum of their lengths on the host
-- self_cpu_ms     DOUBLE   of that, outside the ranges directly inside on the same thread
-- gpu_span_ms     DOUBLE   sum over instances, from the first operation's start to the last one's end
-- gpu_busy_ms     DOUBLE   time in which at least one of its operations ran
-- operations      BIGINT   operations, those of ranges inside included
-- self_operations  BIGINT   operations of no range inside
WITH library AS (
    SELECT domain, bool_or(is_library) AS is_library FROM name_role GROUP BY domain
)

SELECT
    t.path_id,
    t.parent_path_id,
    p.process_index::BIGINT AS process_index,
    t.process_id IN (SELECT process_id FROM gpu_op) AS is_main,
    t.depth,
    t.domain,
    coalesce(l.is_library, false) AS is_library,
    t.name,
    t.instances,
    t.open_instances,
    t.first_start_ns,
    t.cpu_ns / 1e6 AS cpu_ms,
    t.self_cpu_ns / 1e6 AS self_cpu_ms,
    t.gpu_span_ns / 1e6 AS gpu_span_ms,
    t.gpu_busy_ns / 1e6 AS gpu_busy_ms,
    t.ops AS operations,
    t.self_ops AS self_operations
FROM range_tree AS t
INNER JOIN process AS p ON t.process_id = p.process_id
LEFT JOIN library AS l ON t.domain = l.domain
ORDER BY p.process_index, t.first_start_ns, t.depth, t.path_id
