-- What a process marks: its own ranges and others, and those that were never closed.
--
-- reads: host_range, user_range, process
-- row:   one process
--
-- process_id    BIGINT   the process
-- user_ranges   BIGINT   ranges of the program
-- other_ranges  BIGINT   ranges of libraries, and the framework's operators
-- open_ranges   BIGINT   the program's that were never closed
-- open_name     VARCHAR  the first of those, NULL where there are none
WITH marked AS (
    SELECT
        process_id,
        count(*) AS user_ranges,
        count(*) FILTER (is_open) AS open_ranges,
        arg_min(name, start_ns) FILTER (is_open) AS open_name
    FROM user_range
    GROUP BY process_id
),

every AS (
    SELECT process_id, count(*) AS ranges FROM host_range GROUP BY process_id
)

SELECT
    p.process_id,
    coalesce(m.user_ranges, 0) AS user_ranges,
    coalesce(e.ranges, 0) - coalesce(m.user_ranges, 0) AS other_ranges,
    coalesce(m.open_ranges, 0) AS open_ranges,
    m.open_name
FROM process AS p
LEFT JOIN marked AS m ON p.process_id = m.process_id
LEFT JOIN every AS e ON p.process_id = e.process_id
