-- The phase that is innermost on a thread from a moment on, for phases of known and of unknown role apart.
--
-- reads: phase_range
-- row:   one moment at which phases of one kind open or close on a thread
--
-- thread_id      BIGINT   the thread
-- process_id     BIGINT   its process
-- is_known_role  BOOLEAN  which of the two kinds of phases
-- at_ns          BIGINT   the moment
-- range_id       BIGINT   the innermost phase open from then on, NULL where none is
WITH edge AS (
    SELECT thread_id, process_id, is_known_role, range_id, start_ns AS at_ns, 1 AS step, 1 AS turn, -end_ns AS tie
    FROM phase_range
    UNION ALL
    -- at one moment, what ends comes before what begins, but an empty range ends after it began
    SELECT
        thread_id,
        process_id,
        is_known_role,
        range_id,
        end_ns,
        -1,
        CASE WHEN end_ns > start_ns THEN 0 ELSE 2 END,
        -start_ns
    FROM phase_range
),

swept AS (
    SELECT
        *,
        sum(step) OVER by_time AS depth,
        row_number() OVER by_time AS place
    FROM edge
    WINDOW
        by_time AS (PARTITION BY thread_id, is_known_role ORDER BY at_ns, turn, tie, range_id ROWS UNBOUNDED PRECEDING)
)

SELECT
    thread_id,
    process_id,
    is_known_role,
    at_ns,
    -- the last range opened at this depth is the one still open at it
    CASE WHEN depth > 0 THEN last_value(CASE WHEN step = 1 THEN range_id END IGNORE NULLS) OVER (
        PARTITION BY thread_id, is_known_role, depth ORDER BY place
    ) END AS range_id
FROM swept
QUALIFY row_number() OVER (PARTITION BY thread_id, is_known_role, at_ns ORDER BY place DESC) = 1
