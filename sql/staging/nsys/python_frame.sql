-- Calls of Python functions. In exports of Nsight Systems: none.
--
-- row:   one call
--
-- frame_id    BIGINT   the call, unique over all files of the run
-- process_id  BIGINT   the process
-- thread_id   BIGINT   the thread
-- name        VARCHAR  as recorded: path(line): function of Python code, else what the interpreter calls it
-- start_ns    BIGINT   start on the trace clock
-- end_ns      BIGINT   return on the trace clock
SELECT
    0::BIGINT AS frame_id,
    0::BIGINT AS process_id,
    0::BIGINT AS thread_id,
    ''::VARCHAR AS name,
    0::BIGINT AS start_ns,
    0::BIGINT AS end_ns
WHERE false
