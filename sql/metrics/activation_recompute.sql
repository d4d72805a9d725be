-- The distinct kernels of the forward pass, and how often backward launches each of them again.
--
-- A kernel is told by its name, its grid and its block. Only devices with kernels in both phases have rows.
--
-- reads: op_phase, op_class, steady_iteration, gpu_op
-- row:   one kernel shape of forward on one device, over its steady iterations
--
-- device_id    BIGINT  the device
-- name_id      BIGINT  the kernel's name, in op_name
-- grid         BIGINT  blocks in its grid
-- block        BIGINT  threads in a block
-- forwards     DOUBLE  launches in forward, an iteration
-- backwards    DOUBLE  launches in backward, an iteration
-- forward_ns   DOUBLE  their durations in forward summed, an iteration
-- backward_ns  DOUBLE  their durations in backward summed, an iteration
WITH kernel AS (
    SELECT
        o.device_id,
        o.name_id,
        g.grid,
        g.block,
        count(*) FILTER (o.phase = 'forward') / any_value(s.iterations) AS forwards,
        count(*) FILTER (o.phase = 'backward') / any_value(s.iterations) AS backwards,
        coalesce(sum(o.end_ns - o.start_ns) FILTER (o.phase = 'forward'), 0) / any_value(s.iterations) AS forward_ns,
        coalesce(sum(o.end_ns - o.start_ns) FILTER (o.phase = 'backward'), 0) / any_value(s.iterations) AS backward_ns
    FROM op_phase AS o
    INNER JOIN gpu_op AS g ON o.op_id = g.op_id
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    INNER JOIN steady_iteration AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
    WHERE o.kind = 'kernel' AND c.op_class = 'compute' AND o.phase IN ('forward', 'backward')
    GROUP BY ALL
),

with_both AS (
    SELECT device_id FROM kernel GROUP BY device_id HAVING sum(forwards) > 0 AND sum(backwards) > 0
)

SELECT k.device_id, k.name_id, k.grid, k.block, k.forwards, k.backwards, k.forward_ns, k.backward_ns
FROM kernel AS k
INNER JOIN with_both AS b ON k.device_id = b.device_id
WHERE k.forwards > 0
