-- Calls into the operating system, where they were traced.
--
-- reads: raw.OSRT_API, raw.StringIds
-- row:   one call
--
-- process_id  BIGINT   the calling process
-- thread_id   BIGINT   the calling thread
-- name        VARCHAR  the function
-- start_ns    BIGINT   start on the trace clock
-- end_ns      BIGINT   return on the trace clock
SELECT
    (getvariable('source_id') << 24) | ((coalesce("globalTid", 0) >> 24) & 16777215) AS process_id,
    (getvariable('source_id') << 48) | (coalesce("globalTid", 0) & 281474976710655) AS thread_id,
    coalesce(s.value, '(unnamed)') AS name,
    start AS start_ns,
    greatest("end", start) AS end_ns
FROM raw."OSRT_API" AS o
LEFT JOIN raw."StringIds" AS s ON o."nameId" = s.id
WHERE start IS NOT NULL AND "end" IS NOT NULL
