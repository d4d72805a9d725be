-- The physical GPU behind a device, where the export says which.
--
-- reads: raw.TARGET_INFO_GPU, raw.TARGET_INFO_CUDA_DEVICE
-- row:   one physical GPU, or one CUDA ordinal of one process where that is known
--
-- process_pid  BIGINT   the process's number, NULL where the ordinal means the same in all of them
-- ordinal      BIGINT   CUDA ordinal
-- source_id    BIGINT   the file
-- name         VARCHAR  such as NVIDIA H200
-- uuid         VARCHAR  identifies the GPU
-- sm_count     BIGINT   streaming multiprocessors
SELECT
    NULL::BIGINT AS process_pid,
    coalesce("cuDevice", id, "deviceId") AS ordinal,
    getvariable('source_id') AS source_id,
    name,
    uuid,
    "smCount" AS sm_count
FROM raw."TARGET_INFO_GPU"
UNION ALL
SELECT
    d.pid,
    d."cudaId",
    getvariable('source_id'),
    g.name,
    g.uuid,
    g."smCount"
FROM raw."TARGET_INFO_CUDA_DEVICE" AS d
INNER JOIN raw."TARGET_INFO_GPU" AS g ON d."gpuId" = coalesce(g.id, g."deviceId")
