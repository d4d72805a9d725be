-- Cost of operators by name and by the shapes of their inputs, over the whole recording.
--
-- A call made directly by a call of the same name counts as a call, but its time is already in the other's.
--
-- reads: operator_call, operator_cost, operator_backward
-- row:   one name with one set of shapes in one process
--
-- process_id    BIGINT   the process
-- name          VARCHAR  the operator
-- input_shapes  VARCHAR  shapes of its inputs, without spaces, NULL where they were not recorded
-- calls         BIGINT   how often it was called
-- cpu_ns        BIGINT   time on the host, with the operators inside
-- self_cpu_ns   BIGINT   without them
-- gpu_ns        BIGINT   lengths of the operations launched inside, summed
-- self_gpu_ns   BIGINT   of those that no operator inside launched
-- ops           BIGINT   these operations
-- backward_ns   BIGINT   lengths of the operations that the backward of these calls launched, summed
WITH summed AS (
    SELECT
        c.process_id,
        c.name,
        c.input_shapes,
        count(*) AS calls,
        coalesce(sum(k.cpu_ns) FILTER (k.is_outer), 0)::BIGINT AS cpu_ns,
        sum(k.self_cpu_ns)::BIGINT AS self_cpu_ns,
        coalesce(sum(k.gpu_ns) FILTER (k.is_outer), 0)::BIGINT AS gpu_ns,
        sum(k.self_gpu_ns)::BIGINT AS self_gpu_ns,
        coalesce(sum(k.ops) FILTER (k.is_outer), 0)::BIGINT AS ops,
        coalesce(sum(b.gpu_ns), 0)::BIGINT AS backward_ns
    FROM operator_call AS c
    INNER JOIN operator_cost AS k ON c.operator_id = k.operator_id
    LEFT JOIN operator_backward AS b ON c.operator_id = b.operator_id
    GROUP BY ALL
)

SELECT * REPLACE (replace(input_shapes, ' ', '') AS input_shapes)
FROM summed
