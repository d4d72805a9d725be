-- Time that the profiler itself took on a host thread. Kineto leaves the process out: it is the one that was profiled.
--
-- reads: raw.overhead, raw.process, raw.string
-- row:   one stretch
--
-- process_id  BIGINT   the process
-- thread_id   BIGINT   the thread
-- name        VARCHAR  what the profiler did
-- start_ns    BIGINT   start on the trace clock
-- end_ns      BIGINT   end on the trace clock
SELECT
    (getvariable('source_id') << 24) | p.key AS process_id,
    (getvariable('source_id') << 48) | (p.key << 24) | (o.thread & 16777215) AS thread_id,
    coalesce(s.value, '(unnamed)') AS name,
    o.start AS start_ns,
    o."end" AS end_ns
FROM raw."overhead" AS o
INNER JOIN raw."process" AS p ON p.is_main
LEFT JOIN raw."string" AS s ON o.name_id = s.id
