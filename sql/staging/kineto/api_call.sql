-- CUDA (or HIP) runtime and driver calls of the host.
--
-- reads: raw.call
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
    (getvariable('source_id') << 24) | (thread >> 24) AS process_id,
    (getvariable('source_id') << 48) | thread AS thread_id,
    (getvariable('source_id') << 40) + name_id AS name_id,
    start AS start_ns,
    "end" AS end_ns,
    nullif(correlation, 0) AS correlation_id
FROM raw."call"
