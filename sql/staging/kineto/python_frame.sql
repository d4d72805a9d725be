-- Calls of Python functions, where stacks were recorded (with_stack): those of a thread nest.
--
-- reads: raw.python_frame, raw.string
-- row:   one call
--
-- frame_id    BIGINT   the call, unique over all files of the run
-- process_id  BIGINT   the process
-- thread_id   BIGINT   the thread
-- name        VARCHAR  as recorded: path(line): function of Python code, else what the interpreter calls it
-- start_ns    BIGINT   start on the trace clock
-- end_ns      BIGINT   return on the trace clock
SELECT
    (getvariable('source_id') << 48) | f.row_number AS frame_id,
    (getvariable('source_id') << 24) | (f.thread >> 24) AS process_id,
    (getvariable('source_id') << 48) | f.thread AS thread_id,
    coalesce(s.value, '(unnamed)') AS name,
    f.start AS start_ns,
    f."end" AS end_ns
FROM raw."python_frame" AS f
LEFT JOIN raw."string" AS s ON f.name_id = s.id
