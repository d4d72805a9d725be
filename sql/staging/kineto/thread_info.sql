-- Threads of the host, and the names that they gave themselves.
--
-- reads: raw.thread
-- row:   one thread
--
-- thread_id  BIGINT   the thread, unique over all files of the run
-- tid        BIGINT   the operating system's number for it
-- name       VARCHAR  its name
SELECT
    (getvariable('source_id') << 48) | key AS thread_id,
    tid,
    name
FROM raw."thread"
