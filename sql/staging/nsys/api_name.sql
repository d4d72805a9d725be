-- Names of CUDA calls, without the ABI suffix that exports append (cudaLaunchKernel_v7000).
--
-- reads: raw.CUPTI_ACTIVITY_KIND_RUNTIME, raw.StringIds
-- row:   one name in one file
--
-- name_id  BIGINT   the name, as api_call refers to it
-- name     VARCHAR  as in the CUDA documentation
WITH used AS (
    SELECT DISTINCT "nameId" AS id FROM raw."CUPTI_ACTIVITY_KIND_RUNTIME"
)

SELECT
    (getvariable('source_id') << 40) + coalesce(u.id, -1) AS name_id,
    coalesce(regexp_replace(s.value, '_v\d+$', ''), '(unnamed)') AS name
FROM used AS u
LEFT JOIN raw."StringIds" AS s ON u.id = s.id
