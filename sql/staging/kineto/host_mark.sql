-- Instants that programs marked on the host. In torch.profiler traces: none.
--
-- row:   one mark
--
-- mark_id     BIGINT   the mark, unique over all files of the run
-- process_id  BIGINT   the process
-- thread_id   BIGINT   the thread
-- domain      VARCHAR  NVTX domain, '' for the default one
-- name        VARCHAR  as given by the program
-- at_ns       BIGINT   instant on the trace clock
-- color       BIGINT   ARGB, NULL where none was given
-- category    VARCHAR  name of its category, or its number where that has no name
-- payload     DOUBLE   numeric payload, NULL where none was given
SELECT
    0::BIGINT AS mark_id,
    0::BIGINT AS process_id,
    0::BIGINT AS thread_id,
    ''::VARCHAR AS domain,
    ''::VARCHAR AS name,
    0::BIGINT AS at_ns,
    NULL::BIGINT AS color,
    NULL::VARCHAR AS category,
    NULL::DOUBLE AS payload
WHERE false
