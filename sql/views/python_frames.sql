-- Calls of Python functions, where stacks were recorded.
--
-- reads: python_frame, process, thread_info
-- row:   one call
-- store: view
--
-- process_index  BIGINT   its process
-- thread         VARCHAR  its thread: its name, or its number where it has none
-- name           VARCHAR  as recorded: path(line): function of Python code, else what the interpreter calls it
-- start_ns       BIGINT   start on the trace clock
-- end_ns         BIGINT   return on the trace clock
-- duration_ms    DOUBLE   its length, with all that it called
SELECT
    p.process_index::BIGINT AS process_index,
    coalesce(t.name, t.tid::VARCHAR, (f.thread_id & 16777215)::VARCHAR) AS thread,
    f.name,
    f.start_ns,
    f.end_ns,
    (f.end_ns - f.start_ns) / 1e6 AS duration_ms
FROM python_frame AS f
LEFT JOIN process AS p ON f.process_id = p.process_id
LEFT JOIN thread_info AS t ON f.thread_id = t.thread_id
ORDER BY f.start_ns, f.frame_id
