-- Ranges projected onto the GPU: what was launched inside each, on its thread. NVIDIA's definition (nvtx_gpu_proj_trace).
--
-- reads: range_projection, ranges
-- row:   one range that launched something
-- store: view
--
-- range_id       BIGINT   the range, as in ranges
-- process_index  BIGINT   its process
-- thread         VARCHAR  the thread it was opened on
-- domain         VARCHAR  NVTX domain, '' for the default one
-- name           VARCHAR  as given by the program
-- style          VARCHAR  push_pop or start_end
-- depth          BIGINT   ranges around it on its thread, NULL for start_end
-- gpu_start_ns   BIGINT   start of its first operation on the trace clock
-- gpu_end_ns     BIGINT   end of its last one
-- gpu_span_ms    DOUBLE   from the one to the other
-- cpu_ms         DOUBLE   length of the range on the host
-- operations     BIGINT   its operations
-- launches       BIGINT   calls that launched them: what NVIDIA counts as operations
SELECT
    r.range_id,
    r.process_index,
    r.thread,
    r.domain,
    r.name,
    r.style,
    r.depth,
    p.start_ns AS gpu_start_ns,
    p.end_ns AS gpu_end_ns,
    p.span_ns / 1e6 AS gpu_span_ms,
    r.cpu_ms,
    p.ops AS operations,
    p.launches
FROM range_projection AS p
INNER JOIN ranges AS r ON p.range_id = r.range_id
ORDER BY gpu_start_ns
