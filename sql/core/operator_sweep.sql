-- Starts and ends of operators on each thread, in their order, with the operator that is innermost after each.
--
-- reads: operator_call
-- row:   one start or end
--
-- thread_id     BIGINT   the thread
-- place         BIGINT   its place in the thread's order
-- at_ns         BIGINT   when
-- is_start      BOOLEAN  a start, or an end
-- operator_id   BIGINT   the call that starts or ends
-- innermost_id  BIGINT   the innermost call open after it, NULL where none is
-- open_ns       BIGINT   how long that stays so, NULL at the thread's last one
WITH edge AS (
    -- of what starts at one moment the longer is outside, of two alike the one recorded first
    SELECT thread_id, operator_id, start_ns AS at_ns, 1 AS step, 1 AS turn, -end_ns AS tie, operator_id AS last_tie
    FROM operator_call
    UNION ALL
    -- at one moment, what ends comes before what starts, but an empty call ends after it started
    SELECT thread_id, operator_id, end_ns, -1, CASE WHEN end_ns > start_ns THEN 0 ELSE 2 END, -start_ns, -operator_id
    FROM operator_call
),

counted AS (
    SELECT
        *,
        sum(step) OVER by_time AS depth,
        row_number() OVER by_time AS place,
        lead(at_ns) OVER by_time - at_ns AS open_ns
    FROM edge
    WINDOW by_time AS (PARTITION BY thread_id ORDER BY at_ns, turn, tie, last_tie)
)

SELECT
    thread_id,
    place,
    at_ns,
    step = 1 AS is_start,
    operator_id,
    -- the last call that started at this depth is the one still open at it
    CASE WHEN depth > 0 THEN last_value(CASE WHEN step = 1 THEN operator_id END IGNORE NULLS) OVER (
        PARTITION BY thread_id, depth ORDER BY place
    ) END AS innermost_id,
    open_ns
FROM counted
