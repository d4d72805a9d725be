-- Backward against forward: the sums of their GPU spans in each iteration.
--
-- An operation whose label has no known role and that runs before the first backward counts as forward: the labels are
-- the names of modules then, and what runs before backward begins is their forward.
--
-- reads: phase_instance, op_phase
-- row:   one iteration on one device that has both
--
-- device_id              BIGINT   the device
-- iteration_index        BIGINT   the iteration
-- is_steady              BOOLEAN  whether the iteration is in the steady state
-- forward_ns             BIGINT   sum of the forward phases' GPU spans
-- backward_ns            BIGINT   sum of the backward phases' GPU spans
-- backward_over_forward  DOUBLE   their ratio
WITH unknown_label AS (
    SELECT DISTINCT phase FROM op_phase WHERE method = 'annotation' AND NOT is_known_role
),

backward AS (
    SELECT
        device_id,
        iteration_index,
        min(start_ns) AS start_ns,
        sum(span_ns)::BIGINT AS span_ns,
        bool_or(is_steady) AS is_steady
    FROM phase_instance
    WHERE phase = 'backward' AND iteration_index IS NOT NULL
    GROUP BY ALL
),

marked_forward AS (
    SELECT device_id, iteration_index, sum(span_ns)::BIGINT AS span_ns
    FROM phase_instance
    WHERE phase = 'forward' AND range_id IS NOT NULL
    GROUP BY ALL
),

-- labels on operations have no range around them: in an iteration they make one stretch
labelled_forward AS (
    SELECT o.device_id, o.iteration_index, max(o.end_ns) - min(o.start_ns) AS span_ns
    FROM op_phase AS o
    INNER JOIN backward AS b ON o.device_id = b.device_id AND o.iteration_index = b.iteration_index
    LEFT JOIN unknown_label AS u ON o.phase = u.phase
    WHERE o.range_id IS NULL AND (o.phase = 'forward' OR (u.phase IS NOT NULL AND o.start_ns < b.start_ns))
    GROUP BY ALL
),

spans AS (
    SELECT
        b.device_id,
        b.iteration_index,
        b.is_steady,
        coalesce(m.span_ns, 0) + coalesce(l.span_ns, 0) AS forward_ns,
        b.span_ns AS backward_ns
    FROM backward AS b
    LEFT JOIN marked_forward AS m ON b.device_id = m.device_id AND b.iteration_index = m.iteration_index
    LEFT JOIN labelled_forward AS l ON b.device_id = l.device_id AND b.iteration_index = l.iteration_index
)

SELECT
    device_id,
    iteration_index,
    is_steady,
    forward_ns,
    backward_ns,
    backward_ns / forward_ns AS backward_over_forward
FROM spans
WHERE forward_ns > 0
