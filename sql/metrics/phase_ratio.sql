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

first_backward AS (
    SELECT device_id, iteration_index, min(start_ns) AS backward_start_ns
    FROM phase_instance
    WHERE phase = 'backward'
    GROUP BY ALL
),

spans AS (
    SELECT
        p.device_id,
        p.iteration_index,
        bool_or(coalesce(p.is_steady, false)) AS is_steady,
        sum(p.span_ns) FILTER (
            p.phase = 'forward'
            OR (p.method = 'annotation' AND u.phase IS NOT NULL AND p.start_ns < b.backward_start_ns)
        )::BIGINT AS forward_ns,
        sum(p.span_ns) FILTER (p.phase = 'backward')::BIGINT AS backward_ns
    FROM phase_instance AS p
    INNER JOIN first_backward AS b ON p.device_id = b.device_id AND p.iteration_index = b.iteration_index
    LEFT JOIN unknown_label AS u ON p.phase = u.phase
    GROUP BY ALL
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
