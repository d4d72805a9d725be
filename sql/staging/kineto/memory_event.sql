-- Allocations and releases of device memory, where they were traced (profile_memory): those of PyTorch's caching allocator,
-- which takes memory from the driver far less often.
--
-- reads: raw.memory
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
    (getvariable('source_id') << 24) | (thread >> 24) AS process_id,
    (getvariable('source_id') << 32) | (thread >> 24 << 8) | (device & 255) AS device_id,
    start AS at_ns,
    bytes AS allocated_bytes,
    address,
    allocated AS total_allocated_bytes,
    reserved AS total_reserved_bytes
FROM raw."memory"
-- device types are PyTorch's: 1 is CUDA (and HIP, which takes its place); 0 is the host
WHERE device_type = 1 AND device >= 0 AND bytes IS NOT NULL
