-- Ranges by name, each name as it is and with its numbers folded: latencies, how many were open at once, payloads, projection.
-- Times leave out ranges that were never closed: how long those would have been is not known.
--
-- reads: host_range, range_name, range_projection
-- row:   one name (as it is, or folded) of one domain and style in one process
--
-- process_id        BIGINT     the process
-- domain            VARCHAR    NVTX domain, '' for the default one
-- style             VARCHAR    push_pop or start_end
-- is_folded         BOOLEAN    whether numbers in the name are replaced by #
-- name              VARCHAR    the name, without what emit_nvtx appends
-- instances         BIGINT     ranges
-- open_instances    BIGINT     of these, never closed within the capture
-- total_ns          BIGINT     sum of the lengths on the host
-- mean_ns           DOUBLE     mean of the lengths
-- min_ns            BIGINT     shortest
-- p50_ns            DOUBLE     half are no longer
-- p90_ns            DOUBLE     nine of ten are no longer
-- p99_ns            DOUBLE     99 of 100 are no longer
-- max_ns            BIGINT     longest
-- overlapping       BIGINT     ranges that overlap another of the same name
-- most_open         BIGINT     most of them open at once
-- payloads          BIGINT     ranges with a number as payload
-- payload_min       DOUBLE     smallest payload
-- payload_median    DOUBLE     median payload
-- payload_max       DOUBLE     largest payload
-- categories        VARCHAR[]  their categories
-- colors            BIGINT[]   their colours, as ARGB
-- projected         BIGINT     ranges that own GPU operations, by NVIDIA's definition
-- gpu_span_ns       BIGINT     sum of the spans of those on the GPU
-- gpu_span_mean_ns  DOUBLE     mean span
-- gpu_span_p50_ns   DOUBLE     median span
-- gpu_span_min_ns   BIGINT     shortest span
-- gpu_span_max_ns   BIGINT     longest span
-- gpu_span_stdev_ns  DOUBLE     sample standard deviation of the spans, NULL for fewer than two
-- ops               BIGINT     operations
-- launches          BIGINT     calls that launched them: what NVIDIA counts
WITH family AS (
    SELECT *, count(*) OVER (PARTITION BY domain, family) AS labels FROM range_name
),

-- a family of one name is counted once, and told as both
name AS (
    SELECT domain, label, label AS counted_as, false AS is_family FROM family
    UNION ALL
    SELECT domain, label, family, true FROM family WHERE labels > 1
),

numbered AS (
    -- windows over numbers are many times faster than over texts
    SELECT *, dense_rank() OVER (ORDER BY domain, is_family, counted_as) AS name_number FROM name
),

named AS (
    SELECT
        n.name_number,
        r.process_id,
        r.style,
        r.range_id,
        r.start_ns,
        r.end_ns,
        CASE WHEN NOT r.is_open THEN r.end_ns - r.start_ns END AS length_ns,
        r.is_open,
        r.payload,
        r.category,
        r.color
    FROM host_range AS r
    INNER JOIN numbered AS n ON r.domain = n.domain AND r.label = n.label
),

neighboured AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY name_number, process_id, style ORDER BY start_ns, end_ns, range_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS earlier_end_ns,
        lead(start_ns) OVER (
            PARTITION BY name_number, process_id, style ORDER BY start_ns, end_ns, range_id
        ) AS next_start_ns
    FROM named
),

edge AS (
    SELECT name_number, process_id, style, start_ns AS at_ns, 1 AS step FROM named
    UNION ALL
    SELECT name_number, process_id, style, end_ns, -1 FROM named
),

counted AS (
    SELECT
        name_number,
        process_id,
        style,
        -- what ends at a moment is closed before what begins at it
        sum(step) OVER (
            PARTITION BY name_number, process_id, style ORDER BY at_ns, step ROWS UNBOUNDED PRECEDING
        ) AS open_ranges
    FROM edge
),

most AS (
    SELECT name_number, process_id, style, max(open_ranges)::BIGINT AS most_open
    FROM counted
    GROUP BY ALL
),

meaning AS (
    SELECT DISTINCT name_number, domain, is_family AS is_folded, counted_as AS name FROM numbered
    UNION ALL
    SELECT n.name_number, n.domain, true, f.family
    FROM numbered AS n
    INNER JOIN family AS f ON n.domain = f.domain AND n.label = f.label
    WHERE f.labels = 1
),

stat AS (
    SELECT
        o.name_number,
        o.process_id,
        o.style,
        count(*) AS instances,
        count(*) FILTER (o.is_open) AS open_instances,
        sum(o.length_ns)::BIGINT AS total_ns,
        avg(o.length_ns) AS mean_ns,
        min(o.length_ns) AS min_ns,
        quantile_cont(o.length_ns, [0.5, 0.9, 0.99]) AS length_quantiles,
        max(o.length_ns) AS max_ns,
        count(*) FILTER (o.earlier_end_ns > o.start_ns OR o.next_start_ns < o.end_ns) AS overlapping,
        count(o.payload) AS payloads,
        min(o.payload) AS payload_min,
        median(o.payload) AS payload_median,
        max(o.payload) AS payload_max,
        list(DISTINCT o.category) FILTER (o.category IS NOT NULL) AS categories,
        list(DISTINCT o.color) FILTER (o.color IS NOT NULL) AS colors,
        count(p.range_id) AS projected,
        sum(p.span_ns)::BIGINT AS gpu_span_ns,
        avg(p.span_ns) AS gpu_span_mean_ns,
        quantile_cont(p.span_ns, 0.5) AS gpu_span_p50_ns,
        min(p.span_ns) AS gpu_span_min_ns,
        max(p.span_ns) AS gpu_span_max_ns,
        stddev_samp(p.span_ns) AS gpu_span_stdev_ns,
        coalesce(sum(p.ops), 0)::BIGINT AS ops,
        coalesce(sum(p.launches), 0)::BIGINT AS launches
    FROM neighboured AS o
    LEFT JOIN range_projection AS p ON o.range_id = p.range_id
    GROUP BY o.name_number, o.process_id, o.style
)

SELECT
    s.process_id,
    n.domain,
    s.style,
    n.is_folded,
    n.name,
    s.instances,
    s.open_instances,
    s.total_ns,
    s.mean_ns,
    s.min_ns,
    s.length_quantiles[1] AS p50_ns,
    s.length_quantiles[2] AS p90_ns,
    s.length_quantiles[3] AS p99_ns,
    s.max_ns,
    s.overlapping,
    m.most_open,
    s.payloads,
    s.payload_min,
    s.payload_median,
    s.payload_max,
    list_sort(coalesce(s.categories, [])) AS categories,
    list_sort(coalesce(s.colors, [])) AS colors,
    s.projected,
    s.gpu_span_ns,
    s.gpu_span_mean_ns,
    s.gpu_span_p50_ns,
    s.gpu_span_min_ns,
    s.gpu_span_max_ns,
    s.gpu_span_stdev_ns,
    s.ops,
    s.launches
FROM stat AS s
INNER JOIN meaning AS n ON s.name_number = n.name_number
INNER JOIN most AS m ON s.name_number = m.name_number AND s.process_id = m.process_id AND s.style = m.style
