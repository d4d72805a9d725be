-- Where the nodes of CUDA graphs were created. In torch.profiler traces: unknown.
--
-- row:   one node of one graph
--
-- process_id              BIGINT  the process
-- thread_id               BIGINT  the thread that created it
-- graph_node_id           BIGINT  the node, unique per process
-- original_graph_node_id  BIGINT  the node that it was cloned from, NULL for one created anew
-- created_ns              BIGINT  when, on the trace clock
SELECT
    0::BIGINT AS process_id,
    0::BIGINT AS thread_id,
    0::BIGINT AS graph_node_id,
    0::BIGINT AS original_graph_node_id,
    0::BIGINT AS created_ns
WHERE false
