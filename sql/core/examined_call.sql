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
WITH opening AS (
    -- the devices of a process have their stretches at about the same time
    SELECT
        *,
        coalesce(host_start_ns > max(host_end_ns) OVER (
            PARTITION BY process_id ORDER BY host_start_ns, host_end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), true) AS opens
    FROM examined_span
),

numbered AS (
    SELECT
        *,
        sum(opens::INTEGER) OVER (
            PARTITION BY process_id ORDER BY host_start_ns, host_end_ns ROWS UNBOUNDED PRECEDING
        ) AS place
    FROM opening
),

span AS (
    SELECT process_id, min(host_start_ns) AS start_ns, max(host_end_ns) AS end_ns
    FROM numbered
    GROUP BY process_id, place
)

-- spans are few, and apart: no call is found twice
SELECT c.call_id, c.process_id, c.thread_id, c.name_id, c.start_ns, c.end_ns, c.correlation_id
FROM api_call AS c
INNER JOIN span AS s ON c.process_id = s.process_id AND c.start_ns BETWEEN s.start_ns AND s.end_ns
