-- The GPUs that the recording process saw.
--
-- reads: raw.device
-- row:   one CUDA ordinal
--
-- process_pid  BIGINT   the process's number, NULL where the ordinal means the same in all of them
-- ordinal      BIGINT   CUDA ordinal
-- source_id    BIGINT   the file
-- name         VARCHAR  such as NVIDIA H200
-- uuid         VARCHAR  identifies the GPU
-- sm_count     BIGINT   streaming multiprocessors
SELECT
    NULL::BIGINT AS process_pid,
    ordinal,
    getvariable('source_id') AS source_id,
    name,
    uuid,
    sm_count
FROM raw."device"
