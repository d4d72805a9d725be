-- Operations in CUDA graphs, with both of their places: where the graph was launched, and where each was captured.
--
-- reads: graph_op_phase, gpu_op, op_name, device, host_range
-- row:   one operation that ran as a node of a graph
-- store: view
--
-- device_index   BIGINT   the device
-- graph_node_id  BIGINT   the node, unique per process
-- name           VARCHAR  name of the operation, without its parameters
-- start_ns       BIGINT   start on the trace clock
-- end_ns         BIGINT   end on the trace clock
-- launched_in    VARCHAR  the innermost range around the launch of the graph, NULL where none is
-- launch_phase   VARCHAR  the phase of the launch, NULL where it has none
-- captured_in    VARCHAR  the innermost range around the capture of the node, NULL where none is or it was not recorded
-- capture_phase  VARCHAR  the phase of the capture, NULL where it has none: this is the one that phases count
-- capture_ns     BIGINT   when it was captured
SELECT
    d.device_index::BIGINT AS device_index,
    o.graph_node_id,
    n.short_name AS name,
    o.start_ns,
    o.end_ns,
    launched.name AS launched_in,
    g.launch_phase,
    captured.name AS captured_in,
    g.capture_phase,
    g.capture_ns
FROM graph_op_phase AS g
INNER JOIN gpu_op AS o ON g.op_id = o.op_id
INNER JOIN device AS d ON o.device_id = d.device_id
LEFT JOIN op_name AS n ON o.name_id = n.name_id
LEFT JOIN host_range AS launched ON g.launch_range_id = launched.range_id
LEFT JOIN host_range AS captured ON g.capture_range_id = captured.range_id
ORDER BY o.start_ns, o.op_id
