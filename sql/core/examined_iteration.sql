-- Iterations whose idle time is looked at: all of them, or of a long capture a run of them from the middle, the
-- longest, and some spread over the whole. Before each of these lies one more that is looked at for what it leaves
-- behind, and counts for nothing.
--
-- reads: iteration_window, gpu_op
-- row:   one iteration on one device
--
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- is_lead          BOOLEAN  looked at only for the sake of the next one
WITH size AS (
    SELECT device_id, count(*) AS ops FROM gpu_op GROUP BY device_id
),

numbered AS (
    SELECT
        w.device_id,
        w.iteration_index,
        row_number() OVER (PARTITION BY w.device_id ORDER BY w.iteration_index) - 1 AS place,
        row_number() OVER (
            PARTITION BY w.device_id ORDER BY w.end_ns - w.start_ns DESC, w.iteration_index
        ) AS length_rank,
        count(*) OVER (PARTITION BY w.device_id) AS total,
        -- how many there is time for
        greatest(getvariable('examined_ops') * count(*) OVER (PARTITION BY w.device_id) // size.ops, 8) AS fit
    FROM iteration_window AS w
    INNER JOIN size ON w.device_id = size.device_id
),

sized AS (
    SELECT *, least(fit // 8, getvariable('examined_apart')) AS apart FROM numbered
),

chosen AS (
    SELECT
        device_id,
        iteration_index,
        place,
        fit >= total
        -- half of them in a row, or more
        OR abs(2 * place - total) <= fit - 4 * apart
        -- the longest, and some spread over the run, with the one before each
        OR length_rank <= apart
        OR place % (total // apart + 1) = 0 AS is_chosen
    FROM sized
),

led AS (
    SELECT
        *,
        lead(is_chosen) OVER (PARTITION BY device_id ORDER BY place) AS leads
    FROM chosen
)

SELECT device_id, iteration_index, NOT is_chosen AS is_lead
FROM led
WHERE is_chosen OR leads
