-- Device memory over the whole recording, where allocations were recorded.
--
-- reads: memory_held, memory_iteration
-- row:   one device
--
-- device_id                      BIGINT   the device
-- allocations                    BIGINT   how often memory was taken
-- peak_bytes                     BIGINT   most bytes held at once, as far back as the recording knows
-- peak_reserved_bytes            BIGINT   most bytes that the framework's allocator had from the driver, NULL where not recorded
-- allocations_per_iteration      DOUBLE   median, NULL without iterations
-- allocated_bytes_per_iteration  DOUBLE   median churn, NULL without iterations
-- growth_bytes_per_iteration     DOUBLE   median growth of what is held, NULL below two iterations
-- is_absolute                    BOOLEAN  whether bytes held include those from before the recording
WITH whole AS (
    SELECT
        device_id,
        count(*) FILTER (allocated_bytes > 0) AS allocations,
        max(held_bytes) AS peak_bytes,
        max(total_reserved_bytes) AS peak_reserved_bytes,
        count(total_allocated_bytes) > 0 AS is_absolute
    FROM memory_held
    GROUP BY ALL
),

usual AS (
    SELECT
        device_id,
        median(allocations) AS allocations,
        median(allocated_bytes) AS allocated_bytes,
        median(growth_bytes) AS growth_bytes
    FROM memory_iteration
    GROUP BY ALL
)

SELECT
    w.device_id,
    w.allocations,
    w.peak_bytes,
    w.peak_reserved_bytes,
    u.allocations::DOUBLE AS allocations_per_iteration,
    u.allocated_bytes::DOUBLE AS allocated_bytes_per_iteration,
    u.growth_bytes::DOUBLE AS growth_bytes_per_iteration,
    w.is_absolute
FROM whole AS w
LEFT JOIN usual AS u ON w.device_id = u.device_id
