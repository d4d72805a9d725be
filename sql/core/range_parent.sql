-- The tree of push/pop ranges across threads: where each lies, and those at the top of a helper's thread (autograd's) under
-- the phase that the helper works for. Processes stay apart.
--
-- reads: range_nesting, host_range, range_name, op_phase, phase_range, phase_edge
-- row:   one push/pop range
--
-- range_id    BIGINT   the range
-- process_id  BIGINT   its process
-- parent_id   BIGINT   the range that it lies in, NULL at the top of its process
-- is_adopted  BOOLEAN  whether that is a phase of another thread
-- depth       BIGINT   ranges around it on its own thread
-- domain      VARCHAR  NVTX domain
-- label       VARCHAR  its name, without what emit_nvtx appends
-- family      VARCHAR  the label with each number replaced by #
-- start_ns    BIGINT   opening
-- end_ns      BIGINT   closing
-- is_open     BOOLEAN  never closed within the capture
WITH helper AS (
    SELECT DISTINCT p.thread_id, r.thread_id AS phase_thread_id, r.is_known_role
    FROM op_phase AS p
    INNER JOIN phase_range AS r ON p.range_id = r.range_id
    WHERE p.method = 'cross_thread'
),

candidate AS (
    SELECT
        n.range_id,
        h.is_known_role,
        -- where phases are open on several threads, none is preferred
        CASE WHEN count(e.range_id) = 1 THEN max(e.range_id) END AS parent_id
    FROM range_nesting AS n
    INNER JOIN host_range AS r ON n.range_id = r.range_id
    INNER JOIN helper AS h ON n.thread_id = h.thread_id
    ASOF LEFT JOIN phase_edge AS e
        ON h.phase_thread_id = e.thread_id AND h.is_known_role = e.is_known_role AND r.start_ns >= e.at_ns
    WHERE n.parent_id IS NULL
    GROUP BY n.range_id, h.is_known_role
),

adopted AS (
    -- a phase of known role goes before one of unknown role
    SELECT range_id, arg_max(parent_id, is_known_role) AS parent_id
    FROM candidate
    WHERE parent_id IS NOT NULL
    GROUP BY range_id
)

SELECT
    r.range_id,
    r.process_id,
    coalesce(n.parent_id, a.parent_id) AS parent_id,
    a.parent_id IS NOT NULL AS is_adopted,
    n.depth,
    r.domain,
    m.label,
    m.family,
    r.start_ns,
    r.end_ns,
    r.is_open
FROM range_nesting AS n
INNER JOIN host_range AS r ON n.range_id = r.range_id
INNER JOIN range_name AS m ON r.domain = m.domain AND r.label = m.label
LEFT JOIN adopted AS a ON n.range_id = a.range_id
