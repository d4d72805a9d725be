-- Stretches in which a device was never idle: the union of its operations.
--
-- reads: gpu_op
-- row:   one stretch
--
-- device_id  BIGINT  the device
-- start_ns   BIGINT  start
-- end_ns     BIGINT  end
-- ops        BIGINT  operations in it
WITH ordered AS (
    SELECT
        device_id,
        start_ns,
        end_ns,
        -- running max, so that overlapping streams count once
        max(end_ns) OVER (
            PARTITION BY device_id ORDER BY start_ns, end_ns, op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS busy_until_ns,
        op_id
    FROM gpu_op
),

numbered AS (
    SELECT
        *,
        sum(CASE WHEN busy_until_ns IS NULL OR start_ns > busy_until_ns THEN 1 ELSE 0 END) OVER (
            PARTITION BY device_id ORDER BY start_ns, end_ns, op_id ROWS UNBOUNDED PRECEDING
        ) AS stretch
    FROM ordered
)

SELECT
    device_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    count(*) AS ops
FROM numbered
GROUP BY device_id, stretch
