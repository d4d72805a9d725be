-- What an iteration launches, and what the launch calls take.
--
-- reads: op_phase, steady_iteration, api_kind
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
        s.iterations,
        o.call_id,
        coalesce(o.phase = 'optimizer', false) AS is_optimizer,
        o.kind = 'kernel' AS is_kernel,
        -- a call may own many operations of a graph, and then counts once
        o.kind <> 'kernel' OR coalesce(k.kind <> 'launch', true) AS is_shared,
        o.call_end_ns - o.call_start_ns AS call_ns,
        o.end_ns - o.start_ns AS op_ns
    FROM op_phase AS o
    INNER JOIN steady_iteration AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
    LEFT JOIN api_kind AS k ON o.call_name_id = k.name_id
),

launched AS (
    SELECT
        device_id,
        is_optimizer,
        any_value(iterations) AS iterations,
        count(*) FILTER (is_kernel) AS kernels,
        coalesce(sum(op_ns) FILTER (is_kernel), 0) AS kernel_ns,
        count(call_id) FILTER (NOT is_shared) AS calls,
        coalesce(sum(call_ns) FILTER (NOT is_shared), 0) AS call_ns
    FROM op
    GROUP BY device_id, is_optimizer
),

shared AS (
    SELECT device_id, is_optimizer, call_id, any_value(call_ns) AS call_ns
    FROM op
    WHERE is_shared AND call_id IS NOT NULL
    GROUP BY ALL
),

shared_sum AS (
    SELECT device_id, is_optimizer, count(*) AS calls, sum(call_ns) AS call_ns
    FROM shared
    GROUP BY device_id, is_optimizer
)

SELECT
    l.device_id,
    l.is_optimizer,
    l.kernels / l.iterations AS kernels,
    (l.kernel_ns / l.iterations)::DOUBLE AS kernel_ns,
    (l.calls + coalesce(s.calls, 0)) / l.iterations AS calls,
    ((l.call_ns + coalesce(s.call_ns, 0)) / l.iterations)::DOUBLE AS call_ns
FROM launched AS l
LEFT JOIN shared_sum AS s ON l.device_id = s.device_id AND l.is_optimizer = s.is_optimizer
