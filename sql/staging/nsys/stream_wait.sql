-- Records of CUDA events and of waits for them, for dependencies between streams.
--
-- reads: raw.CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, raw.CUPTI_ACTIVITY_KIND_CUDA_EVENT
-- row:   one recording of an event, or one synchronisation
--
-- process_id      BIGINT   the process
-- device_id       BIGINT   the device
-- stream_id       BIGINT   the stream that records or waits
-- event_id        BIGINT   the CUDA event, unique per process
-- correlation_id  BIGINT   joins it to its call, together with process_id
-- is_record       BOOLEAN  an event recorded: true; a wait: false
SELECT
    (getvariable('source_id') << 24) | ((coalesce("globalPid", 0) >> 24) & 16777215) AS process_id,
    (
        (getvariable('source_id') << 32)
        | (((coalesce("globalPid", 0) >> 24) & 16777215) << 8)
        | (coalesce("deviceId", 0) & 255)
    ) AS device_id,
    "streamId" AS stream_id,
    "eventId" AS event_id,
    nullif("correlationId", 0) AS correlation_id,
    true AS is_record
FROM raw."CUPTI_ACTIVITY_KIND_CUDA_EVENT"
UNION ALL
SELECT
    (getvariable('source_id') << 24) | ((coalesce("globalPid", 0) >> 24) & 16777215),
    (
        (getvariable('source_id') << 32)
        | (((coalesce("globalPid", 0) >> 24) & 16777215) << 8)
        | (coalesce("deviceId", 0) & 255)
    ),
    "streamId",
    "eventId",
    nullif("correlationId", 0),
    false
FROM raw."CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
