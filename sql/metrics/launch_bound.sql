-- What an iteration launches, and what the launch calls take.
--
-- reads: op_phase, steady_iteration
-- row:   the optimizer phases of one device, or all else on it, over its steady iterations
--
-- device_id     BIGINT   the device
-- is_optimizer  BOOLEAN  whether it is the optimizer phases
-- kernels       DOUBLE   kernels an iteration
-- kernel_ns     DOUBLE   their durations summed, an iteration
-- calls         DOUBLE   calls that launched anything, an iteration
-- call_ns       DOUBLE   time in those calls, an iteration
WITH op AS (
    SELECT
        o.device_id,
        coalesce(o.phase = 'optimizer', false) AS is_optimizer,
        s.iterations,
        -- one call may own many operations of a graph, and counts once
        coalesce(o.call_id, -o.op_id) AS launch_id,
        any_value(o.call_end_ns - o.call_start_ns) AS call_ns,
        count(*) FILTER (o.kind = 'kernel') AS kernels,
        coalesce(sum(o.end_ns - o.start_ns) FILTER (o.kind = 'kernel'), 0) AS kernel_ns
    FROM op_phase AS o
    INNER JOIN steady_iteration AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
    GROUP BY ALL
)

SELECT
    device_id,
    is_optimizer,
    sum(kernels) / any_value(iterations) AS kernels,
    (sum(kernel_ns) / any_value(iterations))::DOUBLE AS kernel_ns,
    count(call_ns) / any_value(iterations) AS calls,
    (coalesce(sum(call_ns), 0) / any_value(iterations))::DOUBLE AS call_ns
FROM op
GROUP BY device_id, is_optimizer
