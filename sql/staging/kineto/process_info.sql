-- What the trace says of its processes.
--
-- reads: raw.process
-- row:   one process
--
-- process_id  BIGINT   the process, unique over all files of the run
-- pid         BIGINT   the operating system's number for it
-- name        VARCHAR  file name of its executable, without the path
-- rank        BIGINT   rank in a distributed run, NULL where not recorded
SELECT
    (getvariable('source_id') << 24) | key AS process_id,
    pid,
    name,
    rank
FROM raw."process"
