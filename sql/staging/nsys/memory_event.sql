-- Allocations and releases of device memory, where they were traced.
--
-- reads: raw.CUDA_GPU_MEMORY_USAGE_EVENTS
-- row:   one allocation or release
--
-- process_id             BIGINT  the process
-- device_id              BIGINT  the device
-- at_ns                  BIGINT  when, on the trace clock
-- allocated_bytes        BIGINT  bytes allocated: negative for a release
-- address                BIGINT  device address
-- total_allocated_bytes  BIGINT  what the framework's allocator holds after it, NULL where not recorded
-- total_reserved_bytes   BIGINT  what that allocator has taken from the driver, NULL where not recorded
SELECT
    (getvariable('source_id') << 24) | ((coalesce("globalPid", 0) >> 24) & 16777215) AS process_id,
    (
        (getvariable('source_id') << 32)
        | (((coalesce("globalPid", 0) >> 24) & 16777215) << 8)
        | (coalesce("deviceId", 0) & 255)
    ) AS device_id,
    start AS at_ns,
    CASE WHEN "memoryOperationType" = 1 THEN -bytes ELSE bytes END AS allocated_bytes,
    address,
    NULL::BIGINT AS total_allocated_bytes,
    NULL::BIGINT AS total_reserved_bytes
FROM raw."CUDA_GPU_MEMORY_USAGE_EVENTS"
WHERE start IS NOT NULL AND bytes IS NOT NULL
