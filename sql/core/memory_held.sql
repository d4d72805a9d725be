-- Device memory that the program holds after each time that it took or gave back some.
--
-- Where the recording does not say what was held before it began, bytes held are relative to that.
--
-- reads: memory_event
-- row:   one change
--
-- device_id              BIGINT  the device
-- process_id             BIGINT  its process
-- at_ns                  BIGINT  when
-- allocated_bytes        BIGINT  bytes taken, negative where given back
-- held_bytes             BIGINT  bytes held from then on
-- total_allocated_bytes  BIGINT  the same as recorded, NULL where it was not
-- total_reserved_bytes   BIGINT  bytes that the framework's allocator has from the driver, NULL where not recorded
SELECT
    device_id,
    process_id,
    at_ns,
    allocated_bytes,
    coalesce(
        total_allocated_bytes,
        sum(allocated_bytes) OVER (PARTITION BY device_id ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
    )::BIGINT AS held_bytes,
    total_allocated_bytes,
    total_reserved_bytes
FROM memory_event
