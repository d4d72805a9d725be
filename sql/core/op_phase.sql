-- Every operation with its launch, its phase, and how that was told. A known role goes before an unknown one; among equals a
-- label on the operation itself goes before where a graph node was captured, that before the launching thread, that
-- before a helper's.
--
-- reads: launched_op, lost_launch, gpu_op, graph_origin, host_slice, slice_phase, phase_range, name_role
-- row:   one operation
--
-- op_id            BIGINT   the operation
-- process_id       BIGINT   its process
-- device_id        BIGINT   its device
-- stream_id        BIGINT   CUDA stream
-- kind             ENUM     kernel, memcpy, memset or graph
-- name_id          BIGINT   its name, in op_name
-- start_ns         BIGINT   start on the trace clock
-- end_ns           BIGINT   end on the trace clock
-- call_id          BIGINT   the launching call, NULL where none was recorded
-- thread_id        BIGINT   the launching thread
-- call_start_ns    BIGINT   start of the call
-- call_end_ns      BIGINT   return of the call
-- call_name_id     BIGINT   name of the call, in api_name
-- phase            VARCHAR  role of the phase, or the name that it goes by where the role is unknown, NULL where there is none
-- is_known_role    BOOLEAN  whether the phase's role is known
-- range_id         BIGINT   the range that marks the phase, NULL for labels
-- method           ENUM     annotation, graph, direct, cross_thread or none
-- replay_call_id   BIGINT   the launch of the graph, negative where it was not recorded, NULL outside graphs
-- iteration_index  BIGINT   the iteration in which it was launched, NULL where in none
WITH captured AS (
    SELECT g.process_id, g.graph_node_id, p.known_range_id, p.other_range_id
    FROM graph_origin AS g
    ASOF INNER JOIN host_slice AS s ON g.process_id = s.process_id AND g.created_ns >= s.at_ns
    INNER JOIN slice_phase AS p ON g.thread_id = p.thread_id AND s.at_ns = p.at_ns
),

labelled AS (
    SELECT
        gpu_op.op_id,
        gpu_op.label,
        -- backward kernels carry their forward scope's name: the field decides
        CASE WHEN gpu_op.label_phase = 'backward' THEN 'backward' ELSE r.role END AS role
    FROM gpu_op
    LEFT JOIN name_role AS r ON r.domain = '' AND split_part(gpu_op.label, ', ', 1) = r.label
    WHERE gpu_op.label IS NOT NULL OR gpu_op.label_phase IS NOT NULL
),

-- found with few columns: what else is known of an operation would be sorted along
placed AS (
    SELECT o.op_id, l.lost_call_id, s.at_ns, s.iteration_index
    FROM launched_op AS o
    LEFT JOIN lost_launch AS l ON o.op_id = l.op_id
    ASOF LEFT JOIN host_slice AS s
        ON o.process_id = s.process_id AND coalesce(o.call_start_ns, l.launched_ns) >= s.at_ns
),

candidate AS (
    SELECT
        o.*,
        s.iteration_index,
        coalesce(o.call_id, s.lost_call_id) AS any_call_id,
        n.label,
        n.role AS label_role,
        g.known_range_id AS graph_known,
        g.other_range_id AS graph_other,
        p.known_range_id AS launch_known,
        p.known_method,
        p.other_range_id AS launch_other,
        p.other_method
    FROM launched_op AS o
    INNER JOIN placed AS s ON o.op_id = s.op_id
    LEFT JOIN slice_phase AS p ON o.thread_id = p.thread_id AND s.at_ns = p.at_ns
    LEFT JOIN captured AS g ON o.process_id = g.process_id AND o.graph_node_id = g.graph_node_id
    LEFT JOIN labelled AS n ON o.op_id = n.op_id
),

decided AS (
    SELECT
        *,
        CASE
            WHEN label_role IS NOT NULL THEN NULL
            WHEN coalesce(graph_known, launch_known) IS NOT NULL THEN coalesce(graph_known, launch_known)
            WHEN label IS NOT NULL THEN NULL
            ELSE coalesce(graph_other, launch_other)
        END AS range_id,
        CASE
            WHEN label_role IS NOT NULL THEN 'annotation'
            WHEN graph_known IS NOT NULL THEN 'graph'
            WHEN launch_known IS NOT NULL THEN known_method
            WHEN label IS NOT NULL THEN 'annotation'
            WHEN graph_other IS NOT NULL THEN 'graph'
            WHEN launch_other IS NOT NULL THEN other_method
            ELSE 'none'
        END::ENUM('annotation', 'graph', 'direct', 'cross_thread', 'none') AS method
    FROM candidate
)

SELECT
    d.op_id,
    d.process_id,
    d.device_id,
    d.stream_id,
    d.kind,
    d.name_id,
    d.start_ns,
    d.end_ns,
    d.call_id,
    d.thread_id,
    d.call_start_ns,
    d.call_end_ns,
    d.call_name_id,
    coalesce(r.phase, d.label_role, d.label) AS phase,
    d.label_role IS NOT NULL OR coalesce(r.is_known_role, false) AS is_known_role,
    d.range_id,
    d.method,
    CASE WHEN d.method IN ('graph', 'annotation') THEN d.any_call_id END AS replay_call_id,
    d.iteration_index
FROM decided AS d
LEFT JOIN phase_range AS r ON d.range_id = r.range_id
