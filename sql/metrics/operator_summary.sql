-- Cost of operators by name and by the shapes of their inputs, over the whole recording.
--
-- A call made directly by a call of the same name counts as a call, but its time is already in the other's.
--
-- reads: operator_call, operator_cost, operator_backward
-- row:   one name with one set of shapes in one process
--
-- process_id    BIGINT   the process
-- name          VARCHAR  the operator
-- input_shapes  VARCHAR  shapes of its inputs, NULL where they were not recorded
-- calls         BIGINT   how often it was called
-- cpu_ns        BIGINT   time on the host, with the operators inside
-- self_cpu_ns   BIGINT   without them
-- gpu_ns        BIGINT   lengths of the operations launched inside, summed
-- self_gpu_ns   BIGINT   of those that no operator inside launched
-- ops           BIGINT   these operations
-- backward_ns   BIGINT   lengths of the operations that the backward of these calls launched, summed
WITH call AS (
    SELECT
        c.process_id,
        c.name,
        c.input_shapes,
        k.self_cpu_ns,
        k.self_gpu_ns,
        k.cpu_ns,
        k.gpu_ns,
        k.ops,
        b.gpu_ns AS backward_ns,
        coalesce(p.name <> c.name, true) AS is_outer
    FROM operator_call AS c
    INNER JOIN operator_cost AS k ON c.operator_id = k.operator_id
    LEFT JOIN operator_call AS p ON k.parent_id = p.operator_id
    LEFT JOIN operator_backward AS b ON c.operator_id = b.operator_id
)

SELECT
    process_id,
    name,
    input_shapes,
    count(*) AS calls,
    coalesce(sum(cpu_ns) FILTER (is_outer), 0)::BIGINT AS cpu_ns,
    sum(self_cpu_ns)::BIGINT AS self_cpu_ns,
    coalesce(sum(gpu_ns) FILTER (is_outer), 0)::BIGINT AS gpu_ns,
    sum(self_gpu_ns)::BIGINT AS self_gpu_ns,
    coalesce(sum(ops) FILTER (is_outer), 0)::BIGINT AS ops,
    coalesce(sum(backward_ns), 0)::BIGINT AS backward_ns
FROM call
GROUP BY ALL
