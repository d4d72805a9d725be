-- Every CUDA call of the host.
--
-- reads: api_call, api_name, api_kind, process, thread_info
-- row:   one call
-- store: view
--
-- process_index   BIGINT   its process
-- thread          VARCHAR  the calling thread: its name, or its number where it has none
-- name            VARCHAR  as in the CUDA documentation
-- kind            VARCHAR  launch, graph_launch, copy, memset, sync, alloc, free, event or other
-- start_ns        BIGINT   start on the trace clock
-- end_ns          BIGINT   return on the trace clock
-- duration_us     DOUBLE   its length
-- correlation_id  BIGINT   joins operations and calls, unique per process
SELECT
    p.process_index::BIGINT AS process_index,
    coalesce(t.name, (c.thread_id & 16777215)::VARCHAR) AS thread,
    api_name.name,
    api_kind.kind,
    c.start_ns,
    c.end_ns,
    (c.end_ns - c.start_ns) / 1e3 AS duration_us,
    c.correlation_id
FROM api_call AS c
LEFT JOIN api_name ON c.name_id = api_name.name_id
LEFT JOIN api_kind ON c.name_id = api_kind.name_id
LEFT JOIN process AS p ON c.process_id = p.process_id
LEFT JOIN thread_info AS t ON c.thread_id = t.thread_id
