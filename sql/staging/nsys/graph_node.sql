-- Where the nodes of CUDA graphs were created, and which node an instantiated one was made from.
--
-- reads: raw.CUDA_GRAPH_NODE_EVENTS
-- row:   one node of one graph
--
-- process_id              BIGINT  the process
-- thread_id               BIGINT  the thread that created it
-- graph_node_id           BIGINT  the node, unique per process
-- original_graph_node_id  BIGINT  the node that it was cloned from, NULL for one created anew
-- created_ns              BIGINT  when, on the trace clock
SELECT
    (getvariable('source_id') << 24) | ((coalesce("globalTid", 0) >> 24) & 16777215) AS process_id,
    (getvariable('source_id') << 48) | (coalesce("globalTid", 0) & 281474976710655) AS thread_id,
    "graphNodeId" AS graph_node_id,
    nullif("originalGraphNodeId", 0) AS original_graph_node_id,
    start AS created_ns
FROM raw."CUDA_GRAPH_NODE_EVENTS"
WHERE "graphNodeId" IS NOT NULL AND start IS NOT NULL
