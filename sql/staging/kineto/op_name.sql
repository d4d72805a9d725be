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
),

named AS (
    SELECT
        used.id,
        bool_or(used.is_kernel) AS is_kernel,
        coalesce(any_value(s.value), '(unnamed)') AS name
    FROM used
    LEFT JOIN raw."string" AS s ON used.id = s.id
    GROUP BY used.id
),

shortened AS (
    SELECT
        *,
        regexp_extract(replace(name, '(anonymous namespace)', ''), '^[^<(]*?([^<(: ]+) *(?:[<(]|$)', 1) AS short_name
    FROM named
)

SELECT
    (getvariable('source_id') << 40) + id AS name_id,
    name,
    CASE WHEN is_kernel THEN coalesce(nullif(short_name, ''), name) ELSE name END AS short_name
FROM shortened
