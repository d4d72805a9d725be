-- GPU operations with the host call that launched each. One call may own many (a CUDA graph); an operation may have none.
--
-- reads: gpu_op, api_call
-- row:   one operation
--
-- op_id          BIGINT   the operation
-- process_id     BIGINT   its process
-- device_id      BIGINT   its device
-- stream_id      BIGINT   CUDA stream
-- kind           ENUM     kernel, memcpy, memset or graph
-- name_id        BIGINT   its name, in op_name
-- start_ns       BIGINT   start on the trace clock
-- end_ns         BIGINT   end on the trace clock
-- graph_node_id  BIGINT   the node of a CUDA graph that it ran as, NULL outside graphs
-- call_id        BIGINT   the launching call, NULL where none was recorded
-- thread_id      BIGINT   the launching thread
-- call_start_ns  BIGINT   start of the call
-- call_end_ns    BIGINT   return of the call
-- call_name_id   BIGINT   name of the call, in api_name
WITH step AS (
    SELECT correlation_id, lag(correlation_id) OVER () AS before_id FROM api_call WHERE correlation_id IS NOT NULL
),

repeated AS (
    -- ids are unique per process; should an export repeat one, the first call counts, so that no operation counts twice
    SELECT process_id, correlation_id, min(call_id) AS call_id
    FROM api_call
    WHERE
        correlation_id IS NOT NULL
        -- ids in ascending order, as most exports list them, need no counting
        AND EXISTS (SELECT 1 FROM step WHERE correlation_id <= before_id)
    GROUP BY ALL
    HAVING count(*) > 1
),

launch AS (
    SELECT c.*
    FROM api_call AS c
    LEFT JOIN repeated AS r ON c.process_id = r.process_id AND c.correlation_id = r.correlation_id
    WHERE r.call_id IS NULL OR c.call_id = r.call_id
)

SELECT
    o.op_id,
    o.process_id,
    o.device_id,
    o.stream_id,
    o.kind,
    o.name_id,
    o.start_ns,
    o.end_ns,
    o.graph_node_id,
    c.call_id,
    c.thread_id,
    c.start_ns AS call_start_ns,
    c.end_ns AS call_end_ns,
    c.name_id AS call_name_id
FROM gpu_op AS o
LEFT JOIN launch AS c ON o.process_id = c.process_id AND o.correlation_id = c.correlation_id
