-- Every range that programs and libraries marked on the host.
--
-- reads: host_range, range_nesting, name_role, process, thread_info
-- row:   one range
-- store: view
--
-- range_id       BIGINT   the range
-- process_index  BIGINT   its process
-- thread         VARCHAR  the thread it was opened on: its name, or its number where it has none
-- end_thread     VARCHAR  the thread it was closed on
-- domain         VARCHAR  NVTX domain, '' for the default one
-- name           VARCHAR  as given by the program
-- role           VARCHAR  what the name means (forward, backward, optimizer ...), NULL where not known
-- is_library     BOOLEAN  whether a library's domain it is: never a phase then
-- style          VARCHAR  push_pop (nests per thread) or start_end (overlaps freely)
-- depth          BIGINT   ranges around it on its thread, NULL for start_end
-- parent_id      BIGINT   the range around it, NULL for the outermost
-- start_ns       BIGINT   opening on the trace clock
-- end_ns         BIGINT   closing on the trace clock
-- cpu_ms         DOUBLE   its length
-- is_open        BOOLEAN  never closed within the capture
-- color          VARCHAR  its colour as #AARRGGBB, NULL where it has none
-- category       VARCHAR  its category, NULL where it has none
-- payload        DOUBLE   its numeric payload, NULL where it has none
SELECT
    r.range_id,
    p.process_index::BIGINT AS process_index,
    coalesce(t.name, (r.thread_id & 16777215)::VARCHAR) AS thread,
    coalesce(closer.name, (r.end_thread_id & 16777215)::VARCHAR) AS end_thread,
    r.domain,
    r.name,
    name_role.role,
    coalesce(name_role.is_library, false) AS is_library,
    r.style,
    n.depth::BIGINT AS depth,
    n.parent_id,
    r.start_ns,
    r.end_ns,
    (r.end_ns - r.start_ns) / 1e6 AS cpu_ms,
    r.is_open,
    printf('#%08X', r.color) AS color,
    r.category,
    r.payload
FROM host_range AS r
LEFT JOIN range_nesting AS n ON r.range_id = n.range_id
LEFT JOIN name_role ON r.domain = name_role.domain AND r.label = name_role.label
LEFT JOIN process AS p ON r.process_id = p.process_id
LEFT JOIN thread_info AS t ON r.thread_id = t.thread_id
LEFT JOIN thread_info AS closer ON r.end_thread_id = closer.thread_id
ORDER BY r.start_ns, r.range_id
