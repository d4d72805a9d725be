-- Names of GPU operations. The short name is without return type, namespaces, template arguments and parameters.
--
-- reads: raw.gpu_op, raw.string
-- row:   one name in one file
--
-- name_id     BIGINT   the name, as gpu_op refers to it
-- name        VARCHAR  full name: of a kernel, demangled
-- short_name  VARCHAR  what a person would call it
WITH used AS (
    SELECT DISTINCT name_id AS id, kind = 0 AS is_kernel FROM raw."gpu_op"
)

SELECT
    (getvariable('source_id') << 40) + used.id AS name_id,
    coalesce(s.value, '(unnamed)') AS name,
    CASE
        WHEN bool_or(used.is_kernel) THEN coalesce(
            nullif(regexp_extract(replace(s.value, '(anonymous namespace)', ''), '^[^<(]*?([^<(: ]+) *(?:[<(]|$)', 1), ''),
            s.value,
            '(unnamed)'
        )
        ELSE coalesce(s.value, '(unnamed)')
    END AS short_name
FROM used
LEFT JOIN raw."string" AS s ON used.id = s.id
GROUP BY used.id, s.value
