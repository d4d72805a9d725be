-- Ranges that the user's program marked: not a library's, and not the framework's operators.
--
-- reads: host_range, range_name, name_role
-- row:   one range
--
-- range_id       BIGINT   the range
-- process_id     BIGINT   its process
-- thread_id      BIGINT   the thread it was opened on
-- end_thread_id  BIGINT   the thread it was closed on
-- style          VARCHAR  push_pop or start_end
-- domain         VARCHAR  NVTX domain
-- name           VARCHAR  as given by the program
-- family         VARCHAR  the name with each number replaced by #
-- role           VARCHAR  what the phase is, NULL where the name tells nothing
-- start_ns       BIGINT   opening
-- end_ns         BIGINT   closing
-- is_open        BOOLEAN  never closed within the capture
WITH told AS (
    SELECT
        r.range_id,
        r.process_id,
        r.thread_id,
        r.end_thread_id,
        r.style,
        r.domain,
        r.name,
        n.family,
        role.role,
        r.start_ns,
        r.end_ns,
        r.is_open
    FROM host_range AS r
    INNER JOIN range_name AS n ON r.domain = n.domain AND r.label = n.label
    INNER JOIN name_role AS role ON n.domain = role.domain AND n.label = role.label
    -- what emit_nvtx wrote is an operator; told first, few names are left to look up
    WHERE NOT r.is_emitted AND NOT role.is_library AND NOT role.is_operator
),

followed AS (
    SELECT o.range_id, n.start_ns AS next_start_ns
    FROM (SELECT * FROM told WHERE is_open) AS o
    ASOF INNER JOIN told AS n
        ON o.thread_id = n.thread_id AND o.domain = n.domain AND o.family = n.family AND o.start_ns < n.start_ns
)

SELECT
    t.range_id,
    t.process_id,
    t.thread_id,
    t.end_thread_id,
    t.style,
    t.domain,
    t.name,
    t.family,
    t.role,
    t.start_ns,
    -- whose end was lost ended when the next of its kind began, at the latest
    least(t.end_ns, coalesce(f.next_start_ns, t.end_ns)) AS end_ns,
    t.is_open
FROM told AS t
LEFT JOIN followed AS f ON t.range_id = f.range_id
