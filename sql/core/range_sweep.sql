-- The openings and closings of push/pop ranges on each thread, in their order, with the range that is innermost after each.
--
-- A range that closes after one that it was opened in (a pop that was lost, or stacks of two domains that cross) leaves the
-- depth right and the innermost range uncertain until the thread is back at the depth before; who needs more checks times.
--
-- reads: host_range
-- row:   one opening or closing
--
-- thread_id     BIGINT   the thread
-- place         BIGINT   its place in the thread's order
-- at_ns         BIGINT   when
-- is_opening    BOOLEAN  an opening, or a closing
-- range_id      BIGINT   the range that opens or closes
-- depth         BIGINT   ranges open after it
-- innermost_id  BIGINT   the innermost of them, NULL where none is open
WITH edge AS (
    -- of what opens at one moment the longer is outside, of two alike the one recorded first
    SELECT thread_id, range_id, start_ns AS at_ns, 1 AS step, 1 AS turn, -end_ns AS tie, range_id AS last_tie
    FROM host_range
    WHERE style = 'push_pop'
    UNION ALL
    -- at one moment, what ends comes before what begins, but an empty range ends after it began
    SELECT thread_id, range_id, end_ns, -1, CASE WHEN end_ns > start_ns THEN 0 ELSE 2 END, -start_ns, -range_id
    FROM host_range
    WHERE style = 'push_pop'
),

counted AS (
    SELECT
        *,
        sum(step) OVER by_time AS depth,
        row_number() OVER by_time AS place
    FROM edge
    WINDOW by_time AS (PARTITION BY thread_id ORDER BY at_ns, turn, tie, last_tie ROWS UNBOUNDED PRECEDING)
)

SELECT
    thread_id,
    place,
    at_ns,
    step = 1 AS is_opening,
    range_id,
    depth::BIGINT AS depth,
    -- the last range opened at this depth is the one still open at it
    CASE WHEN depth > 0 THEN last_value(CASE WHEN step = 1 THEN range_id END IGNORE NULLS) OVER (
        PARTITION BY thread_id, depth ORDER BY place
    ) END AS innermost_id
FROM counted
