-- CUDA runtime and driver calls of the host.
--
-- reads: raw.CUPTI_ACTIVITY_KIND_RUNTIME
-- row:   one call
--
-- call_id         BIGINT  the call, unique over all files of the run
-- process_id      BIGINT  the calling process
-- thread_id       BIGINT  the calling thread
-- name_id         BIGINT  its name, in api_name
-- start_ns        BIGINT  start on the trace clock
-- end_ns          BIGINT  return on the trace clock, never before the start
-- correlation_id  BIGINT  joins it to the operations that it launched, together with process_id
SELECT
    (getvariable('source_id') << 48) | row_number AS call_id,
    (getvariable('source_id') << 24) | ((coalesce("globalTid", 0) >> 24) & 16777215) AS process_id,
    (getvariable('source_id') << 48) | (coalesce("globalTid", 0) & 281474976710655) AS thread_id,
    (getvariable('source_id') << 40) + coalesce("nameId", -1) AS name_id,
    start AS start_ns,
    greatest("end", start) AS end_ns,
    nullif("correlationId", 0) AS correlation_id
FROM raw."CUPTI_ACTIVITY_KIND_RUNTIME"
WHERE start IS NOT NULL AND "end" IS NOT NULL
