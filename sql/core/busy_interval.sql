-- Stretches in which a device was never idle: the union of its operations.
--
-- reads: gpu_op
-- row:   one stretch
--
-- device_id    BIGINT  the device
-- start_ns     BIGINT  start
-- end_ns       BIGINT  end
-- first_op_id  BIGINT  the operation that opens it
WITH ordered AS (
    SELECT
        device_id,
        op_id,
        start_ns,
        -- running max, so that overlapping streams count once
        max(end_ns) OVER (
            PARTITION BY device_id ORDER BY start_ns, end_ns, op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS busy_until_ns
    FROM gpu_op
),

opening AS (
    SELECT * FROM ordered WHERE busy_until_ns IS NULL OR start_ns > busy_until_ns
),

last_end AS (
    SELECT device_id, max(end_ns) AS end_ns FROM gpu_op GROUP BY device_id
)

SELECT
    o.device_id,
    o.start_ns,
    -- a stretch ends where the device was busy until when the next one opened
    coalesce(lead(o.busy_until_ns) OVER (PARTITION BY o.device_id ORDER BY o.start_ns), last_end.end_ns) AS end_ns,
    o.op_id AS first_op_id
FROM opening AS o
INNER JOIN last_end ON o.device_id = last_end.device_id
