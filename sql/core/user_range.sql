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
INNER JOIN range_name AS n ON r.domain = n.domain AND split_part(r.name, ', ', 1) = n.label
INNER JOIN name_role AS role ON n.domain = role.domain AND n.label = role.label
WHERE NOT role.is_library AND NOT role.is_operator
