-- Which push/pop range lies directly in which, on each thread, and how deep. Domains share one nesting.
--
-- Equal bounds nest in the order of recording. A range that begins where another ends is beside it.
--
-- reads: range_sweep, host_range
-- row:   one push/pop range
--
-- range_id   BIGINT  the range
-- thread_id  BIGINT  its thread
-- parent_id  BIGINT  the range that it was opened in, NULL at the top
-- depth      BIGINT  ranges around it, 0 at the top
WITH opened AS (
    SELECT
        range_id,
        thread_id,
        is_opening,
        depth,
        lag(innermost_id) OVER (PARTITION BY thread_id ORDER BY place) AS parent_id
    FROM range_sweep
)

SELECT
    o.range_id,
    o.thread_id,
    -- where ranges cross, the last one opened at a depth may be closed by now
    CASE WHEN p.end_ns >= r.start_ns THEN o.parent_id END AS parent_id,
    o.depth - 1 AS depth
FROM opened AS o
INNER JOIN host_range AS r ON o.range_id = r.range_id
LEFT JOIN host_range AS p ON o.parent_id = p.range_id
WHERE o.is_opening
