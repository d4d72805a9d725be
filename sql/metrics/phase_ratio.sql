-- Backward against forward: the sums of their GPU spans in each iteration. Spans that overlap count once: a label within
-- a label (attention in forward) gives two phases whose operations alternate.
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

span AS (
    SELECT
        p.device_id,
        p.iteration_index,
        coalesce(p.is_steady, false) AS is_steady,
        CASE WHEN p.phase = 'backward' THEN 'backward' ELSE 'forward' END AS side,
        p.start_ns,
        p.end_ns
    FROM phase_instance AS p
    INNER JOIN first_backward AS b ON p.device_id = b.device_id AND p.iteration_index = b.iteration_index
    LEFT JOIN unknown_label AS u ON p.phase = u.phase
    WHERE
        p.phase IN ('forward', 'backward')
        OR (p.method = 'annotation' AND u.phase IS NOT NULL AND p.start_ns < b.backward_start_ns)
),

covered AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY device_id, iteration_index, side ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered_until_ns
    FROM span
),

added AS (
    SELECT
        *,
        greatest(end_ns - greatest(start_ns, coalesce(covered_until_ns, start_ns)), 0) AS added_ns
    FROM covered
),

spans AS (
    SELECT
        device_id,
        iteration_index,
        bool_or(is_steady) AS is_steady,
        sum(added_ns) FILTER (side = 'forward')::BIGINT AS forward_ns,
        sum(added_ns) FILTER (side = 'backward')::BIGINT AS backward_ns
    FROM added
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
