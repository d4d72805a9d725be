-- The phase of every operation, and how it was told. A known role goes before an unknown one; among equals a label on the
-- operation itself goes before where a graph node was captured, that before the launching thread, that before a helper's.
--
-- reads: launched_op, graph_origin, moment_phase, phase_range, iteration, name_role
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
WITH found AS (
    SELECT m.process_id, m.thread_id, m.at_ns, m.is_known_role, m.range_id, m.method, p.phase
    FROM moment_phase AS m
    INNER JOIN phase_range AS p ON m.range_id = p.range_id
),

known AS (
    SELECT * FROM found WHERE is_known_role
),

unknown AS (
    SELECT * FROM found WHERE NOT is_known_role
),

labelled AS (
    SELECT
        o.*,
        CASE WHEN o.label IS NOT NULL OR o.label_phase IS NOT NULL THEN coalesce(
            -- backward kernels carry their forward scope's name: the field decides
            CASE WHEN o.label_phase = 'backward' THEN 'backward' END, r.role
        ) END AS label_role
    FROM launched_op AS o
    LEFT JOIN name_role AS r ON r.domain = '' AND split_part(o.label, ', ', 1) = r.label
),

candidate AS (
    SELECT
        o.op_id, o.process_id, o.device_id, o.call_start_ns, o.start_ns, o.label, o.label_role,
        gk.range_id AS graph_known, gk.phase AS graph_known_phase,
        lk.range_id AS launch_known, lk.phase AS launch_known_phase, lk.method AS launch_known_method,
        gu.range_id AS graph_unknown, gu.phase AS graph_unknown_phase,
        lu.range_id AS launch_unknown, lu.phase AS launch_unknown_phase, lu.method AS launch_unknown_method
    FROM labelled AS o
    LEFT JOIN graph_origin AS g ON o.process_id = g.process_id AND o.graph_node_id = g.graph_node_id
    LEFT JOIN known AS gk ON g.thread_id = gk.thread_id AND g.created_ns = gk.at_ns
    LEFT JOIN unknown AS gu ON g.thread_id = gu.thread_id AND g.created_ns = gu.at_ns
    LEFT JOIN known AS lk ON o.thread_id = lk.thread_id AND o.call_start_ns = lk.at_ns
    LEFT JOIN unknown AS lu ON o.thread_id = lu.thread_id AND o.call_start_ns = lu.at_ns
),

placed AS (
    SELECT
        c.*,
        i.iteration_index AS open_iteration,
        i.end_ns AS iteration_end_ns
    FROM candidate AS c
    ASOF LEFT JOIN iteration AS i ON c.process_id = i.process_id AND coalesce(c.call_start_ns, c.start_ns) >= i.start_ns
)

SELECT
    op_id,
    process_id,
    device_id,
    coalesce(label_role, graph_known_phase, launch_known_phase, label, graph_unknown_phase, launch_unknown_phase)
        AS phase,
    coalesce(label_role, graph_known_phase, launch_known_phase) IS NOT NULL AS is_known_role,
    CASE
        WHEN label_role IS NOT NULL THEN NULL
        WHEN coalesce(graph_known, launch_known) IS NOT NULL THEN coalesce(graph_known, launch_known)
        WHEN label IS NOT NULL THEN NULL
        ELSE coalesce(graph_unknown, launch_unknown)
    END AS range_id,
    CASE
        WHEN label_role IS NOT NULL THEN 'annotation'
        WHEN graph_known IS NOT NULL THEN 'graph'
        WHEN launch_known IS NOT NULL THEN launch_known_method
        WHEN label IS NOT NULL THEN 'annotation'
        WHEN graph_unknown IS NOT NULL THEN 'graph'
        WHEN launch_unknown IS NOT NULL THEN launch_unknown_method
        ELSE 'none'
    END AS method,
    CASE WHEN coalesce(call_start_ns, start_ns) <= iteration_end_ns THEN open_iteration END AS iteration_index
FROM placed
