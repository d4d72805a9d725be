-- Device memory that the program held, took and gave back in each iteration, where allocations were recorded.
--
-- reads: memory_held, iteration
-- row:   one iteration on one device that took or gave back memory
--
-- device_id             BIGINT   the device
-- iteration_index       BIGINT   the iteration
-- allocations           BIGINT   how often memory was taken
-- allocated_bytes       BIGINT   bytes taken: the churn
-- peak_bytes            BIGINT   most bytes held at once
-- held_bytes            BIGINT   bytes held at the end
-- growth_bytes          BIGINT   that against the end of the iteration before, NULL for the first
-- peak_reserved_bytes   BIGINT   most bytes that the framework's allocator had from the driver, NULL where not recorded
-- is_absolute           BOOLEAN  whether bytes held include those from before the recording
WITH placed AS (
    SELECT h.*, i.iteration_index
    FROM memory_held AS h
    INNER JOIN iteration AS i ON h.process_id = i.process_id AND h.at_ns >= i.start_ns AND h.at_ns < i.end_ns
),

used AS (
    SELECT
        device_id,
        iteration_index,
        count(*) FILTER (allocated_bytes > 0) AS allocations,
        coalesce(sum(allocated_bytes) FILTER (allocated_bytes > 0), 0)::BIGINT AS allocated_bytes,
        max(held_bytes) AS peak_bytes,
        arg_max(held_bytes, at_ns) AS held_bytes,
        max(total_reserved_bytes) AS peak_reserved_bytes,
        count(total_allocated_bytes) > 0 AS is_absolute
    FROM placed
    GROUP BY ALL
)

SELECT
    device_id,
    iteration_index,
    allocations,
    allocated_bytes,
    peak_bytes,
    held_bytes,
    held_bytes - lag(held_bytes) OVER (PARTITION BY device_id ORDER BY iteration_index) AS growth_bytes,
    peak_reserved_bytes,
    is_absolute
FROM used
