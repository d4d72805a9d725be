-- Push/pop ranges aggregated by path, with numbers in names folded (iter_#). Under a phase lies also what helpers
-- (autograd's thread) did for it, so the GPU times of a phase are whole. Operations in CUDA graphs count where the graph was launched.
--
-- reads: range_parent, range_path, range_work, op_range, gpu_op
-- row:   one path in one process
--
-- path_id         BIGINT   the path
-- parent_path_id  BIGINT   the path around it, NULL at the top
-- process_id      BIGINT   the process
-- depth           BIGINT   paths around it
-- domain          VARCHAR  NVTX domain
-- name            VARCHAR  name of its ranges, numbers replaced by # where they differ
-- instances       BIGINT   ranges
-- open_instances  BIGINT   of these, never closed within the capture
-- first_start_ns  BIGINT   opening of the first one
-- cpu_ns          BIGINT   sum of their lengths on the host
-- self_cpu_ns     BIGINT   of that, outside the ranges directly inside on the same thread
-- gpu_span_ns     BIGINT   sum over instances, from first operation's start to last one's end
-- gpu_busy_ns     BIGINT   time in which at least one of its operations ran, summed over devices
-- ops             BIGINT   operations, those of ranges inside included
-- self_ops        BIGINT   operations of no range inside
WITH RECURSIVE instance AS (
    SELECT r.*, p.path_id, p.parent_path_id, p.path_depth
    FROM range_parent AS r
    INNER JOIN range_path AS p ON r.range_id = p.range_id
),

inside AS (
    SELECT parent_id AS range_id, sum(end_ns - start_ns) AS cpu_ns
    FROM range_parent
    WHERE parent_id IS NOT NULL AND NOT is_adopted
    GROUP BY parent_id
),

host AS (
    SELECT
        i.path_id,
        any_value(i.parent_path_id) AS parent_path_id,
        any_value(i.process_id) AS process_id,
        any_value(i.path_depth) AS depth,
        any_value(i.domain) AS domain,
        CASE WHEN min(i.label) = max(i.label) THEN min(i.label) ELSE any_value(i.family) END AS name,
        count(*) AS instances,
        count(*) FILTER (WHERE i.is_open) AS open_instances,
        min(i.start_ns) AS first_start_ns,
        sum(i.end_ns - i.start_ns)::BIGINT AS cpu_ns,
        sum(greatest(i.end_ns - i.start_ns - coalesce(inside.cpu_ns, 0), 0))::BIGINT AS self_cpu_ns,
        coalesce(sum(w.span_ns), 0)::BIGINT AS gpu_span_ns
    FROM instance AS i
    LEFT JOIN inside ON i.range_id = inside.range_id
    LEFT JOIN range_work AS w ON i.range_id = w.range_id
    GROUP BY i.path_id
),

around AS (
    SELECT path_id, path_id AS outer_id FROM host
    UNION
    SELECT a.path_id, h.parent_path_id
    FROM around AS a
    INNER JOIN host AS h ON a.outer_id = h.path_id
    WHERE h.parent_path_id IS NOT NULL
),

placed AS (
    SELECT p.path_id, o.op_id, o.device_id, o.start_ns, o.end_ns
    FROM op_range AS r
    INNER JOIN range_path AS p ON r.range_id = p.range_id
    INNER JOIN gpu_op AS o ON r.op_id = o.op_id
),

added AS (
    SELECT
        a.outer_id AS path_id,
        a.outer_id = p.path_id AS is_self,
        greatest(p.end_ns - greatest(p.start_ns, coalesce(max(p.end_ns) OVER earlier, p.start_ns)), 0) AS added_ns
    FROM placed AS p
    INNER JOIN around AS a ON p.path_id = a.path_id
    WINDOW earlier AS (
        PARTITION BY a.outer_id, p.device_id ORDER BY p.start_ns, p.end_ns, p.op_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),

gpu AS (
    SELECT
        path_id,
        sum(added_ns)::BIGINT AS busy_ns,
        count(*) AS ops,
        count(*) FILTER (WHERE is_self) AS self_ops
    FROM added
    GROUP BY path_id
)

SELECT
    h.*,
    coalesce(g.busy_ns, 0) AS gpu_busy_ns,
    coalesce(g.ops, 0) AS ops,
    coalesce(g.self_ops, 0) AS self_ops
FROM host AS h
LEFT JOIN gpu AS g ON h.path_id = g.path_id
