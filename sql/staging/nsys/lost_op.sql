-- Operations that the profiler recorded without a time (start = end = 0), as it does when its buffers run out.
--
-- reads: raw.CUPTI_ACTIVITY_KIND_KERNEL, raw.CUPTI_ACTIVITY_KIND_MEMCPY, raw.CUPTI_ACTIVITY_KIND_MEMSET, raw.CUPTI_ACTIVITY_KIND_GRAPH_TRACE
-- row:   one kind of operation
--
-- kind   VARCHAR  kernel, memcpy, memset or graph
-- count  BIGINT   how many have no time
WITH operation AS (
    SELECT 'kernel' AS kind, start, "end" FROM raw."CUPTI_ACTIVITY_KIND_KERNEL"
    UNION ALL
    SELECT 'memcpy', start, "end" FROM raw."CUPTI_ACTIVITY_KIND_MEMCPY"
    UNION ALL
    SELECT 'memset', start, "end" FROM raw."CUPTI_ACTIVITY_KIND_MEMSET"
    UNION ALL
    SELECT 'graph', start, "end" FROM raw."CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
)

SELECT
    kind,
    count(*) AS count
FROM operation
WHERE start IS NULL OR "end" IS NULL OR (start = 0 AND "end" = 0)
GROUP BY kind
