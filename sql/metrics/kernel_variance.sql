-- How far a kernel's time spreads over the iterations at the same place of the iteration, where the work is the same.
--
-- The n-th launch of a kernel (name, grid and block) is compared with the n-th launch in other iterations. Kernels that
-- are not launched equally often in every iteration have no such place and are left out.
--
-- reads: op_class, op_name, op_phase, iteration_window, gpu_op
-- row:   one kernel shape on one device, over its steady iterations, or a sample of them in a long capture
--
-- device_id        BIGINT   the device
-- kernel_name      VARCHAR  the kernel
-- grid             BIGINT   blocks in its grid
-- block            BIGINT   threads in a block
-- launches         BIGINT   launches compared
-- p90_over_median  DOUBLE   90th percentile of a launch's time over the median one at its place
-- excess_ns        DOUBLE   time beyond the median at its place, an iteration
WITH numbered AS (
    SELECT
        device_id,
        iteration_index,
        row_number() OVER (PARTITION BY device_id ORDER BY iteration_index) - 1 AS place,
        count(*) OVER (PARTITION BY device_id) AS total
    FROM iteration_window
    WHERE is_steady
),

steady AS (
    -- of a long capture, some iterations spread over all of it tell as much
    SELECT device_id, iteration_index, count(*) OVER (PARTITION BY device_id) AS iterations
    FROM numbered
    WHERE place % ceil(total / getvariable('compared_iterations'))::BIGINT = 0
),

launch AS (
    SELECT
        s.device_id,
        s.iteration_index,
        s.iterations,
        o.name_id,
        g.grid,
        g.block,
        o.end_ns - o.start_ns AS ns,
        row_number() OVER (
            PARTITION BY s.device_id, s.iteration_index, o.name_id, g.grid, g.block ORDER BY o.start_ns, o.op_id
        ) AS place
    FROM op_phase AS o
    INNER JOIN gpu_op AS g ON o.op_id = g.op_id
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    INNER JOIN steady AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
    WHERE o.kind = 'kernel' AND c.op_class = 'compute'
),

placed AS (
    SELECT
        *,
        median(ns) OVER same AS usual_ns,
        count(*) OVER same AS seen
    FROM launch
    WINDOW same AS (PARTITION BY device_id, name_id, grid, block, place)
)

SELECT
    p.device_id,
    any_value(n.name) AS kernel_name,
    p.grid,
    p.block,
    count(*) AS launches,
    quantile_cont(p.ns / nullif(p.usual_ns, 0), 0.9)::DOUBLE AS p90_over_median,
    (sum(greatest(p.ns - p.usual_ns, 0)) / any_value(p.iterations))::DOUBLE AS excess_ns
FROM placed AS p
INNER JOIN op_name AS n ON p.name_id = n.name_id
GROUP BY p.device_id, p.name_id, p.grid, p.block
HAVING min(p.seen) = any_value(p.iterations)
