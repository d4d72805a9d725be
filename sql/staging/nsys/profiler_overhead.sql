-- Time that the profiler itself took on a host thread.
--
-- reads: raw.PROFILER_OVERHEAD, raw.StringIds
-- row:   one stretch
--
-- process_id  BIGINT   the process
-- thread_id   BIGINT   the thread
-- name        VARCHAR  what the profiler did
-- start_ns    BIGINT   start on the trace clock
-- end_ns      BIGINT   end on the trace clock
SELECT
    (getvariable('source_id') << 24) | ((coalesce("globalTid", 0) >> 24) & 16777215) AS process_id,
    (getvariable('source_id') << 48) | (coalesce("globalTid", 0) & 281474976710655) AS thread_id,
    coalesce(s.value, '(unnamed)') AS name,
    start AS start_ns,
    greatest("end", start) AS end_ns
FROM raw."PROFILER_OVERHEAD" AS o
LEFT JOIN raw."StringIds" AS s ON o."nameId" = s.id
WHERE start IS NOT NULL AND "end" IS NOT NULL
