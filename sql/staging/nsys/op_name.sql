-- Names of GPU operations.
--
-- reads: raw.CUPTI_ACTIVITY_KIND_KERNEL, raw.StringIds
-- row:   one name in one file
--
-- name_id     BIGINT   the name, as gpu_op refers to it
-- name        VARCHAR  full name: of a kernel, demangled
-- short_name  VARCHAR  what a person would call it
WITH used AS (
    SELECT DISTINCT "demangledName" AS id, "shortName" AS short_id
    FROM raw."CUPTI_ACTIVITY_KIND_KERNEL"
    WHERE "demangledName" IS NOT NULL
),

generic (id, name) AS (
    VALUES
    (-1, 'Memcpy'),
    (-2, 'Memcpy HtoD'),
    (-3, 'Memcpy DtoH'),
    (-4, 'Memcpy HtoA'),
    (-5, 'Memcpy AtoH'),
    (-6, 'Memcpy AtoA'),
    (-7, 'Memcpy AtoD'),
    (-8, 'Memcpy DtoA'),
    (-9, 'Memcpy DtoD'),
    (-10, 'Memcpy HtoH'),
    (-11, 'Memcpy PtoP'),
    (-12, 'Memcpy HtoD (unified memory)'),
    (-13, 'Memcpy DtoH (unified memory)'),
    (-14, 'Memcpy DtoD (unified memory)'),
    (-100, 'Memset'),
    (-101, 'CUDA graph'),
    (-102, '(unnamed)')
)

SELECT
    (getvariable('source_id') << 40) + u.id AS name_id,
    coalesce(full_name.value, '(unnamed)') AS name,
    coalesce(short_name.value, full_name.value, '(unnamed)') AS short_name
FROM (SELECT id, min(short_id) AS short_id FROM used GROUP BY id) AS u
LEFT JOIN raw."StringIds" AS full_name ON u.id = full_name.id
LEFT JOIN raw."StringIds" AS short_name ON u.short_id = short_name.id
UNION ALL
SELECT
    (getvariable('source_id') << 40) + id,
    name,
    name
FROM generic
