-- Instants that programs marked on the host: NVTX marks.
--
-- reads: raw.NVTX_EVENTS, raw.StringIds
-- row:   one mark
--
-- mark_id     BIGINT   the mark, unique over all files of the run
-- process_id  BIGINT   the process
-- thread_id   BIGINT   the thread
-- domain      VARCHAR  NVTX domain, '' for the default one
-- name        VARCHAR  as given by the program
-- at_ns       BIGINT   instant on the trace clock
-- color       BIGINT   ARGB, NULL where none was given
-- category    VARCHAR  name of its category, or its number where that has no name
-- payload     DOUBLE   numeric payload, NULL where none was given
WITH domain AS (
    SELECT "globalTid" >> 24 AS process_key, "domainId", any_value(coalesce(e.text, s.value)) AS name
    FROM raw."NVTX_EVENTS" AS e
    LEFT JOIN raw."StringIds" AS s ON e.text IS NULL AND e."textId" = s.id
    WHERE "eventType" = 75
    GROUP BY ALL
),

category AS (
    SELECT
        "globalTid" >> 24 AS process_key,
        coalesce("domainId", 0) AS "domainId",
        category,
        any_value(coalesce(e.text, s.value)) AS name
    FROM raw."NVTX_EVENTS" AS e
    LEFT JOIN raw."StringIds" AS s ON e.text IS NULL AND e."textId" = s.id
    WHERE "eventType" = 33
    GROUP BY ALL
)

SELECT
    (getvariable('source_id') << 48) | e.row_number AS mark_id,
    (getvariable('source_id') << 24) | ((coalesce(e."globalTid", 0) >> 24) & 16777215) AS process_id,
    (getvariable('source_id') << 48) | (coalesce(e."globalTid", 0) & 281474976710655) AS thread_id,
    coalesce(domain.name, CASE WHEN coalesce(e."domainId", 0) = 0 THEN '' ELSE 'domain ' || e."domainId" END) AS domain,
    coalesce(e.text, s.value, '') AS name,
    e.start AS at_ns,
    e.color,
    coalesce(category.name, nullif(e.category, 0)::VARCHAR) AS category,
    coalesce(
        e."uint64Value"::DOUBLE,
        e."int64Value"::DOUBLE,
        e."doubleValue",
        e."uint32Value"::DOUBLE,
        e."int32Value"::DOUBLE,
        e."floatValue"
    ) AS payload
FROM raw."NVTX_EVENTS" AS e
LEFT JOIN raw."StringIds" AS s ON e.text IS NULL AND e."textId" = s.id
LEFT JOIN domain ON e."globalTid" >> 24 = domain.process_key AND e."domainId" = domain."domainId"
LEFT JOIN
    category
    ON
        e."globalTid" >> 24 = category.process_key
        AND coalesce(e."domainId", 0) = category."domainId"
        AND e.category = category.category
WHERE e."eventType" = 34 AND e.start IS NOT NULL
