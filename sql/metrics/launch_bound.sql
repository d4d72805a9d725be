-- What an iteration launches, and what the launch calls take.
--
-- reads: launched_op, op_phase, iteration_window
-- row:   the optimizer phases of one device, or all else on it, over its steady iterations
--
-- device_id     BIGINT   the device
-- is_optimizer  BOOLEAN  whether it is the optimizer phases
-- kernels       DOUBLE   kernels an iteration
-- kernel_ns     DOUBLE   their durations summed, an iteration
-- calls         DOUBLE   calls that launched anything, an iteration
-- call_ns       DOUBLE   time in those calls, an iteration
WITH steady AS (
    SELECT device_id, iteration_index, count(*) OVER (PARTITION BY device_id) AS iterations
    FROM iteration_window
    WHERE is_steady
),

op AS (
    SELECT
        o.device_id,
        coalesce(p.phase = 'optimizer', false) AS is_optimizer,
        s.iterations,
        o.kind = 'kernel' AS is_kernel,
        o.end_ns - o.start_ns AS op_ns,
        -- one call may own many operations: it counts with the first
        o.call_id IS NOT NULL AND row_number() OVER (PARTITION BY o.call_id ORDER BY o.op_id) = 1 AS is_call,
        o.call_end_ns - o.call_start_ns AS call_ns
    FROM launched_op AS o
    INNER JOIN op_phase AS p ON o.op_id = p.op_id
    INNER JOIN steady AS s ON p.device_id = s.device_id AND p.iteration_index = s.iteration_index
)

SELECT
    device_id,
    is_optimizer,
    count(*) FILTER (is_kernel) / any_value(iterations) AS kernels,
    (coalesce(sum(op_ns) FILTER (is_kernel), 0) / any_value(iterations))::DOUBLE AS kernel_ns,
    count(*) FILTER (is_call) / any_value(iterations) AS calls,
    (coalesce(sum(call_ns) FILTER (is_call), 0) / any_value(iterations))::DOUBLE AS call_ns
FROM op
GROUP BY device_id, is_optimizer
