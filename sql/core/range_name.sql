-- Distinct names of ranges, and of labels on operations.
--
-- reads: host_range, gpu_op
-- row:   one name in one domain
--
-- domain      VARCHAR  NVTX domain
-- label       VARCHAR  the name up to its first comma
-- family      VARCHAR  the label with each number replaced by #
-- is_emitted  BOOLEAN  emit_nvtx wrote it, for an operator
WITH label AS (
    SELECT domain, label, bool_or(is_emitted) AS is_emitted
    FROM host_range
    GROUP BY ALL
    UNION
    SELECT DISTINCT '', label, false FROM gpu_op WHERE label IS NOT NULL
)

SELECT
    domain,
    label,
    regexp_replace(label, '\d+', '#', 'g') AS family,
    bool_or(is_emitted) AS is_emitted
FROM label
GROUP BY ALL
