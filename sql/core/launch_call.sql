-- Calls that launch work of their own: what is captured into a CUDA graph does not run.
--
-- reads: api_call, api_kind, stream_capture
-- row:   one call
--
-- process_id      BIGINT   the calling process
-- start_ns        BIGINT   start on the trace clock
-- correlation_id  BIGINT   joins it to the operations that it launched, together with process_id
-- kind            ENUM     launch, graph_launch, copy or memset
WITH capturing AS (
    -- most processes capture nothing, and need none of this
    SELECT * FROM api_call WHERE process_id IN (SELECT process_id FROM stream_capture)
),

captured AS (
    SELECT c.call_id
    FROM capturing AS c
    ASOF INNER JOIN stream_capture AS s ON c.process_id = s.process_id AND c.start_ns >= s.start_ns
    WHERE c.start_ns <= s.end_ns
)

SELECT c.process_id, c.start_ns, c.correlation_id, k.kind::ENUM('launch', 'graph_launch', 'copy', 'memset') AS kind
FROM api_call AS c
INNER JOIN api_kind AS k ON c.name_id = k.name_id
LEFT JOIN captured AS s ON c.call_id = s.call_id
WHERE k.kind IN ('launch', 'graph_launch', 'copy', 'memset') AND s.call_id IS NULL
