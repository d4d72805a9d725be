-- Stretches in which nothing ran on a device that was busy before and after.
--
-- reads: busy_interval
-- row:   one gap
--
-- gap_id      BIGINT  the gap
-- device_id   BIGINT  the device
-- start_ns    BIGINT  when the last operation before it ended
-- end_ns      BIGINT  when the next one started
-- gap_ns      BIGINT  its length
-- next_op_id  BIGINT  the operation that ends it
WITH followed AS (
    SELECT
        device_id,
        end_ns AS start_ns,
        lead(start_ns) OVER stretch AS end_ns,
        lead(first_op_id) OVER stretch AS next_op_id
    FROM busy_interval
    WINDOW stretch AS (PARTITION BY device_id ORDER BY start_ns)
)

SELECT
    row_number() OVER (ORDER BY device_id, start_ns) - 1 AS gap_id,
    device_id,
    start_ns,
    end_ns,
    end_ns - start_ns AS gap_ns,
    next_op_id
FROM followed
WHERE end_ns IS NOT NULL
