-- Instants that programs marked on the host.
--
-- reads: host_mark, process, thread_info
-- row:   one mark
-- store: view
--
-- process_index  BIGINT   its process
-- thread         VARCHAR  the thread that set it: its name, or its number where it has none
-- domain         VARCHAR  NVTX domain, '' for the default one
-- name           VARCHAR  as given by the program
-- at_ns          BIGINT   instant on the trace clock
-- color          VARCHAR  its colour as #AARRGGBB, NULL where it has none
-- category       VARCHAR  its category, NULL where it has none
-- payload        DOUBLE   its numeric payload, NULL where it has none
SELECT
    p.process_index::BIGINT AS process_index,
    coalesce(t.name, (m.thread_id & 16777215)::VARCHAR) AS thread,
    m.domain,
    m.name,
    m.at_ns,
    printf('#%08X', m.color) AS color,
    m.category,
    m.payload
FROM host_mark AS m
LEFT JOIN process AS p ON m.process_id = p.process_id
LEFT JOIN thread_info AS t ON m.thread_id = t.thread_id
ORDER BY m.at_ns, m.mark_id
