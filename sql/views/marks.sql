-- Instants that programs marked on the host.
--
-- reads: host_mark, process
-- row:   one mark
-- store: view
--
-- process_index  BIGINT   its process
-- domain         VARCHAR  NVTX domain, '' for the default one
-- name           VARCHAR  as given by the program
-- at_ns          BIGINT   instant on the trace clock
-- payload        DOUBLE   its numeric payload, NULL where it has none
SELECT
    p.process_index::BIGINT AS process_index,
    m.domain,
    m.name,
    m.at_ns,
    m.payload
FROM host_mark AS m
LEFT JOIN process AS p ON m.process_id = p.process_id
ORDER BY m.at_ns
