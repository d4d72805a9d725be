-- Ranges by name, each name as it is and with its numbers folded. Times leave out ranges that were never closed.
--
-- reads: range_stat, process
-- row:   one name (as it is, or folded) of one domain and style in one process
-- store: view
--
-- process_index   BIGINT     the process
-- domain          VARCHAR    NVTX domain, '' for the default one
-- style           VARCHAR    push_pop (nests per thread) or start_end (overlaps freely)
-- is_folded       BOOLEAN    whether numbers in the name are replaced by #
-- name            VARCHAR    the name, without what emit_nvtx appends
-- instances       BIGINT     ranges
-- open_instances  BIGINT     of these, never closed within the capture
-- total_ms        DOUBLE     sum of their lengths on the host
-- mean_ms         DOUBLE     mean length
-- min_ms          DOUBLE     shortest
-- p50_ms          DOUBLE     half are no longer
-- p90_ms          DOUBLE     nine of ten are no longer
-- p99_ms          DOUBLE     99 of 100 are no longer
-- max_ms          DOUBLE     longest
-- overlapping     BIGINT     ranges that overlap another of the same name
-- most_open       BIGINT     most of them open at once
-- payloads        BIGINT     ranges with a number as payload
-- payload_min     DOUBLE     smallest payload
-- payload_median  DOUBLE     median payload
-- payload_max     DOUBLE     largest payload
-- categories      VARCHAR[]  their categories
-- colors          VARCHAR[]  their colours, as #AARRGGBB
-- projected       BIGINT     ranges that launched GPU operations on their own thread
-- gpu_span_ms     DOUBLE     mean time from the first of these to the last, NULL where there are none
-- operations      BIGINT     operations that they launched on their own thread
SELECT
    p.process_index::BIGINT AS process_index,
    s.domain,
    s.style,
    s.is_folded,
    s.name,
    s.instances,
    s.open_instances,
    s.total_ns / 1e6 AS total_ms,
    s.mean_ns / 1e6 AS mean_ms,
    s.min_ns / 1e6 AS min_ms,
    s.p50_ns / 1e6 AS p50_ms,
    s.p90_ns / 1e6 AS p90_ms,
    s.p99_ns / 1e6 AS p99_ms,
    s.max_ns / 1e6 AS max_ms,
    s.overlapping,
    s.most_open,
    s.payloads,
    s.payload_min,
    s.payload_median,
    s.payload_max,
    s.categories,
    [printf('#%08X', color) FOR color IN s.colors] AS colors,
    s.projected,
    s.gpu_span_mean_ns / 1e6 AS gpu_span_ms,
    s.ops AS operations
FROM range_stat AS s
INNER JOIN process AS p ON s.process_id = p.process_id
ORDER BY s.is_folded DESC, s.total_ns DESC NULLS LAST, s.name
