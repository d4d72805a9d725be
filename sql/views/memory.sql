-- Device memory in each iteration, where allocations were recorded.
--
-- reads: memory_iteration, device
-- row:   one iteration on one device that took or gave back memory
-- store: view
--
-- device_index      BIGINT   the device
-- iteration_index   BIGINT   the iteration
-- allocations       BIGINT   how often memory was taken
-- allocated_mb      DOUBLE   megabytes taken: the churn
-- peak_mb           DOUBLE   most megabytes held at once
-- held_mb           DOUBLE   megabytes held at the end
-- growth_mb         DOUBLE   that against the end of the iteration before, NULL for the first
-- peak_reserved_mb  DOUBLE   most that the framework's allocator had from the driver, NULL where not recorded
-- is_absolute       BOOLEAN  whether what is held includes what was held before the recording
SELECT
    d.device_index::BIGINT AS device_index,
    m.iteration_index,
    m.allocations,
    m.allocated_bytes / 1e6 AS allocated_mb,
    m.peak_bytes / 1e6 AS peak_mb,
    m.held_bytes / 1e6 AS held_mb,
    m.growth_bytes / 1e6 AS growth_mb,
    m.peak_reserved_bytes / 1e6 AS peak_reserved_mb,
    m.is_absolute
FROM memory_iteration AS m
INNER JOIN device AS d ON m.device_id = d.device_id
ORDER BY d.device_index, m.iteration_index
