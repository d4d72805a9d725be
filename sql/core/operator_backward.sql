-- Operators with what their backward cost: both carry one sequence number, of the forward thread.
--
-- An operator that makes no node of autograd's graph shows the number that the next one will get, so of all with one number
-- the last to start made the node. Where it was called by others of the same number (aten::linear and the aten::to in it),
-- the outermost of them counts. Where several threads run forward and the trace does not say whose a backward is, none is.
--
-- reads: operator_call, operator_cost
-- row:   one forward call whose backward was recorded
--
-- operator_id  BIGINT  the forward call
-- gpu_ns       BIGINT  lengths of the operations that its backward launched, summed
WITH RECURSIVE numbered AS MATERIALIZED (
    SELECT
        c.operator_id,
        c.process_id,
        c.thread_id,
        c.start_ns,
        c.sequence_number,
        c.forward_thread_id,
        c.is_backward,
        k.parent_id,
        k.gpu_ns
    FROM operator_call AS c
    INNER JOIN operator_cost AS k ON c.operator_id = k.operator_id
    -- only torch.profiler numbers autograd's wrapper too, and the wrapper adds up gradients of other operators
    WHERE c.sequence_number IS NOT NULL AND NOT starts_with(c.name, 'autograd::engine::')
),

backward AS (
    -- what a node calls may carry its number as well: the outermost counts
    SELECT
        b.process_id,
        b.sequence_number,
        b.forward_thread_id,
        sum(b.gpu_ns)::BIGINT AS gpu_ns
    FROM numbered AS b
    LEFT JOIN numbered AS p ON b.parent_id = p.operator_id AND b.sequence_number = p.sequence_number
    WHERE b.is_backward AND p.operator_id IS NULL
    GROUP BY ALL
),

maker AS (
    SELECT process_id, thread_id, sequence_number, arg_max(operator_id, start_ns) AS operator_id
    FROM numbered
    WHERE NOT is_backward
    GROUP BY ALL
),

joined AS (
    SELECT m.operator_id, b.*
    FROM backward AS b
    INNER JOIN maker AS m
        ON
            b.process_id = m.process_id
            AND b.sequence_number = m.sequence_number
            AND coalesce(b.forward_thread_id, m.thread_id) = m.thread_id
    QUALIFY count(*) OVER (PARTITION BY b.process_id, b.sequence_number, b.forward_thread_id) = 1
),

climbing AS (
    SELECT operator_id AS maker_id, operator_id, 0 AS steps FROM joined
    UNION ALL
    SELECT c.maker_id, p.operator_id, c.steps + 1
    FROM climbing AS c
    INNER JOIN numbered AS n ON c.operator_id = n.operator_id
    INNER JOIN numbered AS p ON n.parent_id = p.operator_id AND n.sequence_number = p.sequence_number
    WHERE NOT p.is_backward
),

outermost AS (
    SELECT maker_id, arg_max(operator_id, steps) AS operator_id FROM climbing GROUP BY maker_id
)

SELECT
    o.operator_id,
    sum(j.gpu_ns)::BIGINT AS gpu_ns
FROM joined AS j
INNER JOIN outermost AS o ON j.operator_id = o.maker_id
GROUP BY o.operator_id
