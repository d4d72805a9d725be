-- Calls into the operating system. In torch.profiler traces: none.
--
-- row:   one call
--
-- process_id  BIGINT   the calling process
-- thread_id   BIGINT   the calling thread
-- name        VARCHAR  the function
-- start_ns    BIGINT   start on the trace clock
-- end_ns      BIGINT   return on the trace clock
SELECT
    0::BIGINT AS process_id,
    0::BIGINT AS thread_id,
    ''::VARCHAR AS name,
    0::BIGINT AS start_ns,
    0::BIGINT AS end_ns
WHERE false
