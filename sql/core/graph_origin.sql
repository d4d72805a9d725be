-- Where the work of each CUDA graph node was first captured: the node is followed back through the graphs it was cloned from.
--
-- reads: graph_node
-- row:   one node of one graph
--
-- process_id     BIGINT  the process
-- graph_node_id  BIGINT  the node
-- thread_id      BIGINT  the thread that created the original
-- created_ns     BIGINT  when
WITH RECURSIVE ancestry AS (
    -- UNION drops what was seen before, so that a cycle ends
    SELECT process_id, graph_node_id, graph_node_id AS ancestor_id FROM graph_node
    UNION
    SELECT a.process_id, a.graph_node_id, n.original_graph_node_id
    FROM ancestry AS a
    INNER JOIN graph_node AS n ON a.process_id = n.process_id AND a.ancestor_id = n.graph_node_id
    WHERE n.original_graph_node_id IS NOT NULL
)

SELECT
    a.process_id,
    a.graph_node_id,
    arg_min(n.thread_id, n.created_ns) AS thread_id,
    min(n.created_ns) AS created_ns
FROM ancestry AS a
INNER JOIN graph_node AS n ON a.process_id = n.process_id AND a.ancestor_id = n.graph_node_id
GROUP BY ALL
