-- Records of CUDA events and of waits for them, for dependencies between streams.
-- Where records are not listed, each wait still names the stream and the call that recorded its event.
--
-- reads: raw.sync, raw.event_record, raw.process
-- row:   one recording of an event, or one synchronisation
--
-- process_id      BIGINT   the process
-- device_id       BIGINT   the device
-- stream_id       BIGINT   the stream that records or waits
-- event_id        BIGINT   the CUDA event, unique per process
-- correlation_id  BIGINT   joins it to its call, together with process_id
-- is_record       BOOLEAN  an event recorded: true; a wait: false
WITH recorded AS (
    SELECT device, stream, event, correlation FROM raw."event_record"
    UNION
    SELECT device, waited_stream, event, record_correlation
    FROM raw."sync"
    WHERE record_correlation > 0
),

wait AS (
    SELECT device, stream, event, correlation, false AS is_record FROM raw."sync"
    UNION ALL
    SELECT device, stream, event, correlation, true FROM recorded
)

SELECT
    (getvariable('source_id') << 24) | p.key AS process_id,
    (getvariable('source_id') << 32) | (p.key << 8) | (coalesce(w.device, 0) & 255) AS device_id,
    w.stream AS stream_id,
    w.event AS event_id,
    nullif(w.correlation, 0) AS correlation_id,
    w.is_record
FROM wait AS w
INNER JOIN raw."process" AS p ON p.is_main
