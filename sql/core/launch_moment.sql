-- Moments on the host that decide which phase an operation belongs to: its launch, and for a node of a CUDA graph
-- also the node's creation.
--
-- reads: launched_op, graph_origin
-- row:   one moment on one thread
-- store: view
--
-- process_id  BIGINT  the process
-- thread_id   BIGINT  the thread that launched or created
-- at_ns       BIGINT  when
SELECT process_id, thread_id, call_start_ns AS at_ns
FROM launched_op
WHERE call_id IS NOT NULL AND graph_node_id IS NULL
UNION ALL
(
    SELECT process_id, thread_id, call_start_ns
    FROM launched_op
    WHERE call_id IS NOT NULL AND graph_node_id IS NOT NULL
    UNION
    SELECT process_id, thread_id, created_ns
    FROM graph_origin
)
