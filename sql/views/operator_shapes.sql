-- The framework's operators by name and shapes of their inputs, the one with most GPU time of its own first.
--
-- reads: operator_summary
-- row:   one name with one set of shapes
-- store: view
--
-- name          VARCHAR  such as aten::addmm
-- input_shapes  VARCHAR  shapes of its inputs, NULL where they were not recorded
-- calls         BIGINT   how often it was called
-- cpu_ms        DOUBLE   time on the host, with the operators inside
-- self_cpu_ms   DOUBLE   without them
-- gpu_ms        DOUBLE   lengths of the operations launched inside, summed
-- self_gpu_ms   DOUBLE   of those that no operator inside launched
-- operations    BIGINT   these operations
-- backward_ms   DOUBLE   lengths of the operations that the backward of these calls launched, summed
SELECT
    name,
    input_shapes,
    sum(calls)::BIGINT AS calls,
    sum(cpu_ns) / 1e6 AS cpu_ms,
    sum(self_cpu_ns) / 1e6 AS self_cpu_ms,
    sum(gpu_ns) / 1e6 AS gpu_ms,
    sum(self_gpu_ns) / 1e6 AS self_gpu_ms,
    sum(ops)::BIGINT AS operations,
    sum(backward_ns) / 1e6 AS backward_ms
FROM operator_summary
GROUP BY name, input_shapes
ORDER BY sum(self_gpu_ns) DESC, sum(self_cpu_ns) DESC, name, input_shapes
