-- Ranges that programs and libraries marked on the host: NVTX push/pop and start/end.
--
-- reads: raw.NVTX_EVENTS, raw.StringIds, raw.ANALYSIS_DETAILS, raw.CUPTI_ACTIVITY_KIND_RUNTIME
-- row:   one range
--
-- range_id       BIGINT   the range, unique over all files of the run
-- process_id     BIGINT   the process it was opened in
-- thread_id      BIGINT   the thread it was opened on
-- end_thread_id  BIGINT   the thread it was closed on
-- style          VARCHAR  push_pop (nests per thread) or start_end (overlaps freely)
-- domain         VARCHAR  NVTX domain, '' for the default one
-- name           VARCHAR  as given by the program
-- label          VARCHAR  the name up to its first comma: what emit_nvtx appends (numbers, shapes) is left off
-- is_emitted     BOOLEAN  emit_nvtx wrote the name, for an operator
-- start_ns       BIGINT   opening on the trace clock
-- end_ns         BIGINT   closing on the trace clock: the end of the capture where it was never closed
-- is_open        BOOLEAN  never closed within the capture
-- color          BIGINT   ARGB, NULL where none was given
-- category       VARCHAR  name of its category, or its number where that has no name
-- payload        DOUBLE   numeric payload, NULL where none was given
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
),

event AS (
    SELECT
        e.*,
        e."globalTid" >> 24 AS process_key,
        coalesce(e.text, s.value, '') AS name,
        strpos(coalesce(e.text, s.value, ''), ', ') AS comma
    FROM raw."NVTX_EVENTS" AS e
    LEFT JOIN raw."StringIds" AS s ON e.text IS NULL AND e."textId" = s.id
    WHERE e."eventType" IN (59, 60, 70, 71) AND e.start IS NOT NULL
),

capture AS (
    SELECT
        (SELECT max(duration) FROM raw."ANALYSIS_DETAILS") AS duration_ns,
        greatest(
            (SELECT max(greatest(start, "end")) FROM raw."NVTX_EVENTS" WHERE "eventType" IN (34, 59, 60, 70, 71)),
            (SELECT max("end") FROM raw."CUPTI_ACTIVITY_KIND_RUNTIME")
        ) AS last_ns
)

SELECT
    (getvariable('source_id') << 48) | e.row_number AS range_id,
    (getvariable('source_id') << 24) | ((coalesce(e."globalTid", 0) >> 24) & 16777215) AS process_id,
    (getvariable('source_id') << 48) | (coalesce(e."globalTid", 0) & 281474976710655) AS thread_id,
    (getvariable('source_id') << 48)
    | (coalesce(e."endGlobalTid", e."globalTid", 0) & 281474976710655) AS end_thread_id,
    CASE WHEN e."eventType" IN (59, 70) THEN 'push_pop' ELSE 'start_end' END AS style,
    coalesce(domain.name, CASE WHEN coalesce(e."domainId", 0) = 0 THEN '' ELSE 'domain ' || e."domainId" END) AS domain,
    e.name,
    CASE WHEN e.comma > 0 THEN left(e.name, e.comma - 1) ELSE e.name END AS label,
    CASE
        WHEN e.comma = 0 THEN false
        -- nearly all there are: a pattern takes three times longer
        WHEN contains(e.name, ', op_id = ') THEN true
        ELSE regexp_matches(e.name, ', (op_id|(stashed )?seq) ?= ?\d')
    END AS is_emitted,
    e.start AS start_ns,
    greatest(e.start, coalesce(e."end", greatest(capture.duration_ns, capture.last_ns), e.start)) AS end_ns,
    e."end" IS NULL OR coalesce(e."end" >= capture.duration_ns, false) AS is_open,
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
FROM event AS e
CROSS JOIN capture
LEFT JOIN domain ON e.process_key = domain.process_key AND e."domainId" = domain."domainId"
LEFT JOIN
    category
    ON
        e.process_key = category.process_key
        AND coalesce(e."domainId", 0) = category."domainId"
        AND e.category = category.category
