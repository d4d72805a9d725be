-- CUDA calls made while the work of the stretches was launched whose idle time is looked at.
--
-- reads: api_call, examined_span
-- row:   one call
--
-- call_id         BIGINT  the call
-- process_id      BIGINT  the calling process
-- thread_id       BIGINT  the calling thread
-- name_id         BIGINT  its name, in api_name
-- start_ns        BIGINT  start on the trace clock
-- end_ns          BIGINT  return on the trace clock
-- correlation_id  BIGINT  joins it to the operations that it launched, together with process_id
WITH span AS (
    -- the devices of a process have their stretches at about the same time
    SELECT process_id, host_start_ns, max(host_end_ns) AS host_end_ns FROM examined_span GROUP BY ALL
),

reaching AS (
    SELECT
        process_id,
        host_start_ns,
        max(host_end_ns) OVER (PARTITION BY process_id ORDER BY host_start_ns) AS host_end_ns
    FROM span
),

looked_at AS (
    SELECT c.call_id
    FROM api_call AS c
    ASOF INNER JOIN reaching AS s ON c.process_id = s.process_id AND c.start_ns >= s.host_start_ns
    WHERE c.start_ns <= s.host_end_ns
)

SELECT c.call_id, c.process_id, c.thread_id, c.name_id, c.start_ns, c.end_ns, c.correlation_id
FROM api_call AS c
INNER JOIN looked_at AS l ON c.call_id = l.call_id
