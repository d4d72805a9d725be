-- Stretches in which nothing ran on a device that was busy before and after.
--
-- reads: gpu_op
-- row:   one gap
--
-- gap_id          BIGINT  the gap
-- device_id       BIGINT  the device
-- start_ns        BIGINT  when the last operation before it ended
-- end_ns          BIGINT  when the next one started
-- gap_ns          BIGINT  its length
-- previous_op_id  BIGINT  the operation that ended last before it
-- next_op_id      BIGINT  the operation that ends it
WITH ordered AS (
    SELECT
        device_id,
        op_id,
        start_ns,
        -- running max, so that overlapping streams count once
        max(end_ns) OVER earlier AS busy_until_ns,
        arg_max(op_id, end_ns) OVER earlier AS previous_op_id
    FROM gpu_op
    WINDOW
        earlier AS (
            PARTITION BY device_id ORDER BY start_ns, end_ns, op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)

SELECT
    row_number() OVER (ORDER BY device_id, start_ns) - 1 AS gap_id,
    device_id,
    busy_until_ns AS start_ns,
    start_ns AS end_ns,
    start_ns - busy_until_ns AS gap_ns,
    previous_op_id,
    op_id AS next_op_id
FROM ordered
WHERE start_ns > busy_until_ns
