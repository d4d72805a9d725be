-- The stretch of GPU time of each iteration on each device: from its first operation's start to the next one's.
-- The last one's ends with its last operation.
--
-- Steady are all but the leading ones that are slower than the usual, and but one that the capture cut short.
--
-- reads: op_phase, iteration
-- row:   one iteration on one device
--
-- process_id       BIGINT   the process
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration, from 0
-- name             VARCHAR  as marked, or a number
-- start_ns         BIGINT   start of its first operation
-- last_end_ns      BIGINT   end of its last operation
-- end_ns           BIGINT   end of the window
-- period_ns        BIGINT   start to start, NULL for the last
-- gap_ns           BIGINT   from the last operation of this one to the first of the next, NULL for the last
-- is_steady        BOOLEAN  whether statistics count it
WITH used AS (
    SELECT process_id, device_id, iteration_index, min(start_ns) AS start_ns, max(end_ns) AS last_end_ns
    FROM op_phase
    WHERE iteration_index IS NOT NULL
    GROUP BY ALL
),

followed AS (
    SELECT
        u.*,
        i.name,
        i.is_open,
        lead(u.start_ns) OVER (PARTITION BY u.device_id ORDER BY u.iteration_index) AS next_start_ns
    FROM used AS u
    INNER JOIN iteration AS i ON u.process_id = i.process_id AND u.iteration_index = i.iteration_index
),

timed AS (
    SELECT
        *,
        median(period_ns) OVER (PARTITION BY device_id) AS usual_ns
    FROM (
        -- greatest() alone would make the last one's missing period a zero
        SELECT *, CASE WHEN next_start_ns IS NOT NULL THEN greatest(next_start_ns - start_ns, 0) END AS period_ns
        FROM followed
    )
),

first_usual AS (
    SELECT device_id, min(iteration_index) AS iteration_index
    FROM timed
    WHERE period_ns <= getvariable('warmup_factor') * usual_ns
    GROUP BY device_id
)

SELECT
    t.process_id,
    t.device_id,
    t.iteration_index,
    t.name,
    t.start_ns,
    t.last_end_ns,
    greatest(coalesce(t.next_start_ns, t.last_end_ns), t.start_ns) AS end_ns,
    t.period_ns,
    CASE WHEN t.next_start_ns IS NOT NULL THEN greatest(t.next_start_ns - t.last_end_ns, 0) END AS gap_ns,
    NOT t.is_open AND t.iteration_index >= coalesce(f.iteration_index, 0) AS is_steady
FROM timed AS t
LEFT JOIN first_usual AS f ON t.device_id = f.device_id
