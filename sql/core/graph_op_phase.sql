-- Operations in CUDA graphs, with both of their places: where the graph was launched, and where their node was captured.
-- op_phase prefers the second; the tree of ranges and projections use the first. A thread without ranges of its own counts
-- as in the phase that it works for.
--
-- reads: launched_op, graph_origin, host_slice, slice_phase, phase_range, op_range, range_edge
-- row:   one operation that ran as a node of a graph
--
-- op_id             BIGINT   the operation
-- launch_range_id   BIGINT   the innermost range around the launch, NULL where none is
-- launch_phase      VARCHAR  the phase of the launch, NULL where it has none
-- capture_ns        BIGINT   when the node was first captured, NULL where not recorded
-- capture_range_id  BIGINT   the innermost range around that, NULL where none is
-- capture_phase     VARCHAR  the phase of that, NULL where it has none
WITH captured AS (
    SELECT g.process_id, g.graph_node_id, g.created_ns, coalesce(e.range_id, p.range_id) AS range_id, p.phase
    FROM graph_origin AS g
    ASOF LEFT JOIN range_edge AS e ON g.thread_id = e.thread_id AND g.created_ns >= e.at_ns
    ASOF LEFT JOIN host_slice AS s ON g.process_id = s.process_id AND g.created_ns >= s.at_ns
    LEFT JOIN slice_phase AS m ON g.thread_id = m.thread_id AND s.at_ns = m.at_ns
    LEFT JOIN phase_range AS p ON coalesce(m.known_range_id, m.other_range_id) = p.range_id
)

SELECT
    o.op_id,
    coalesce(r.range_id, p.range_id) AS launch_range_id,
    p.phase AS launch_phase,
    c.created_ns AS capture_ns,
    c.range_id AS capture_range_id,
    c.phase AS capture_phase
FROM launched_op AS o
LEFT JOIN captured AS c ON o.process_id = c.process_id AND o.graph_node_id = c.graph_node_id
LEFT JOIN op_range AS r ON o.op_id = r.op_id AND r.is_own
ASOF LEFT JOIN host_slice AS s ON o.process_id = s.process_id AND o.call_start_ns >= s.at_ns
LEFT JOIN slice_phase AS m ON o.thread_id = m.thread_id AND s.at_ns = m.at_ns
LEFT JOIN phase_range AS p ON coalesce(m.known_range_id, m.other_range_id) = p.range_id
WHERE o.graph_node_id IS NOT NULL
