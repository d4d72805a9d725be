-- The phase of every operation, and how it was told. A known role goes before an unknown one; among equals a label on the
-- operation itself goes before where a graph node was captured, that before the launching thread, that before a helper's.
--
-- reads: launched_op, lost_launch, gpu_op, graph_origin, moment_phase, phase_range, iteration, name_role
-- row:   one operation
--
-- op_id            BIGINT   the operation
-- process_id       BIGINT   its process
-- device_id        BIGINT   its device
-- phase            VARCHAR  role of the phase, or the name that it goes by where the role is unknown, NULL where there is none
-- is_known_role    BOOLEAN  whether the phase's role is known
-- range_id         BIGINT   the range that marks the phase, NULL for labels
-- method           VARCHAR  annotation, graph, direct, cross_thread or none
-- iteration_index  BIGINT   the iteration in which it was launched, NULL where in none
WITH captured AS (
    SELECT g.process_id, g.graph_node_id, m.known_range_id, m.other_range_id
    FROM graph_origin AS g
    INNER JOIN moment_phase AS m ON g.thread_id = m.thread_id AND g.created_ns = m.at_ns
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

candidate AS (
    SELECT
        o.op_id,
        o.process_id,
        o.device_id,
        i.iteration_index AS open_iteration,
        coalesce(o.call_start_ns, l.launched_ns) <= i.end_ns AS is_in_iteration,
        n.label,
        n.role AS label_role,
        g.known_range_id AS graph_known,
        g.other_range_id AS graph_other,
        m.known_range_id AS launch_known,
        m.known_method,
        m.other_range_id AS launch_other,
        m.other_method
    FROM launched_op AS o
    LEFT JOIN lost_launch AS l ON o.op_id = l.op_id
    ASOF LEFT JOIN iteration AS i
        ON o.process_id = i.process_id AND coalesce(o.call_start_ns, l.launched_ns) >= i.start_ns
    LEFT JOIN moment_phase AS m ON o.thread_id = m.thread_id AND o.call_start_ns = m.at_ns
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
        END AS method
    FROM candidate
)

SELECT
    d.op_id,
    d.process_id,
    d.device_id,
    coalesce(p.phase, d.label_role, d.label) AS phase,
    d.label_role IS NOT NULL OR coalesce(p.is_known_role, false) AS is_known_role,
    d.range_id,
    d.method,
    CASE WHEN d.is_in_iteration THEN d.open_iteration END AS iteration_index
FROM decided AS d
LEFT JOIN phase_range AS p ON d.range_id = p.range_id
