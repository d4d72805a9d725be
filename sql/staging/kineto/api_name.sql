-- Names of CUDA calls.
--
-- reads: raw.call, raw.string
-- row:   one name in one file
--
-- name_id  BIGINT   the name, as api_call refers to it
-- name     VARCHAR  as in the CUDA documentation
WITH used AS (
    SELECT DISTINCT name_id AS id FROM raw."call"
)

SELECT
    (getvariable('source_id') << 40) + used.id AS name_id,
    coalesce(regexp_replace(s.value, '_v\d+$', ''), '(unnamed)') AS name
FROM used
LEFT JOIN raw."string" AS s ON used.id = s.id
