-- The framework's operators by name, the one with most GPU time of its own first.
--
-- reads: operator_summary
-- row:   one name
-- store: view
--
-- name         VARCHAR  such as aten::addmm
-- calls        BIGINT   how often it was called
-- cpu_ms       DOUBLE   time on the host, with the operators inside
-- self_cpu_ms  DOUBLE   without them
-- gpu_ms       DOUBLE   lengths of the operations launched inside, summed
-- self_gpu_ms  DOUBLE   of those that no operator inside launched
-- operations   BIGINT   these operations
-- backward_ms  DOUBLE   lengths of the operations that the backward of these calls launched, summed
-- shapes       BIGINT   different shapes of its inputs, 0 where they were not recorded
SELECT
    name,
    sum(calls)::BIGINT AS calls,
    sum(cpu_ns) / 1e6 AS cpu_ms,
    sum(self_cpu_ns) / 1e6 AS self_cpu_ms,
    sum(gpu_ns) / 1e6 AS gpu_ms,
    sum(self_gpu_ns) / 1e6 AS self_gpu_ms,
    sum(ops)::BIGINT AS operations,
    sum(backward_ns) / 1e6 AS backward_ms,
    count(DISTINCT input_shapes) AS shapes
FROM operator_summary
GROUP BY name
ORDER BY sum(self_gpu_ns) DESC, sum(self_cpu_ns) DESC, name
