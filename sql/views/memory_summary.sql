-- Device memory over the whole recording, where allocations were recorded.
--
-- reads: memory_use, device
-- row:   one device
-- store: view
--
-- device_index                BIGINT   the device
-- allocations                 BIGINT   how often memory was taken
-- peak_mb                     DOUBLE   most megabytes held at once, as far back as the recording knows
-- peak_reserved_mb            DOUBLE   most that the framework's allocator had from the driver, NULL where not recorded
-- allocations_per_iteration   DOUBLE   median, NULL without iterations
-- allocated_mb_per_iteration  DOUBLE   median churn, NULL without iterations
-- growth_mb_per_iteration     DOUBLE   median growth of what is held, NULL below two iterations
-- is_absolute                 BOOLEAN  whether what is held includes what was held before the recording
SELECT
    d.device_index::BIGINT AS device_index,
    m.allocations,
    m.peak_bytes / 1e6 AS peak_mb,
    m.peak_reserved_bytes / 1e6 AS peak_reserved_mb,
    m.allocations_per_iteration,
    m.allocated_bytes_per_iteration / 1e6 AS allocated_mb_per_iteration,
    m.growth_bytes_per_iteration / 1e6 AS growth_mb_per_iteration,
    m.is_absolute
FROM memory_use AS m
INNER JOIN device AS d ON m.device_id = d.device_id
ORDER BY d.device_index
