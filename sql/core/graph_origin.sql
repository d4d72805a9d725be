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
    SELECT process_id, graph_node_id, graph_node_id AS ancestor_id, 0 AS generation FROM graph_node
    UNION
    -- a graph is instantiated, and cloned, once or twice: a longer line, or a cycle, is damage
    SELECT a.process_id, a.graph_node_id, n.original_graph_node_id, a.generation + 1
    FROM ancestry AS a
    INNER JOIN graph_node AS n ON a.process_id = n.process_id AND a.ancestor_id = n.graph_node_id
    WHERE n.original_graph_node_id IS NOT NULL AND a.generation < 16
)

SELECT
    a.process_id,
    a.graph_node_id,
    arg_min(n.thread_id, n.created_ns) AS thread_id,
    min(n.created_ns) AS created_ns
FROM ancestry AS a
INNER JOIN graph_node AS n ON a.process_id = n.process_id AND a.ancestor_id = n.graph_node_id
GROUP BY a.process_id, a.graph_node_id
