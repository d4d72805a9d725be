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

op AS MATERIALIZED (
    -- few of all operations, before anything is joined with them
    SELECT o.op_id, o.name_id, o.start_ns, o.end_ns, s.device_id, s.iteration_index, s.iterations
    FROM op_phase AS o
    INNER JOIN steady AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
    WHERE o.kind = 'kernel'
),

launch AS (
    SELECT
        o.device_id,
        o.iteration_index,
        o.iterations,
        o.name_id,
        g.grid,
        g.block,
        o.end_ns - o.start_ns AS ns,
        row_number() OVER (
            PARTITION BY o.device_id, o.iteration_index, o.name_id, g.grid, g.block ORDER BY o.start_ns, o.op_id
        ) AS place
    FROM op AS o
    INNER JOIN gpu_op AS g ON o.op_id = g.op_id
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    WHERE c.op_class = 'compute'
),

usual AS (
    SELECT device_id, name_id, grid, block, place, median(ns) AS usual_ns, count(*) AS seen
    FROM launch
    GROUP BY ALL
)

SELECT
    l.device_id,
    any_value(n.name) AS kernel_name,
    l.grid,
    l.block,
    count(*) AS launches,
    quantile_cont(l.ns / nullif(u.usual_ns, 0), 0.9)::DOUBLE AS p90_over_median,
    (sum(greatest(l.ns - u.usual_ns, 0)) / any_value(l.iterations))::DOUBLE AS excess_ns
FROM launch AS l
INNER JOIN op_name AS n ON l.name_id = n.name_id
INNER JOIN usual AS u
    ON
        l.device_id = u.device_id
        AND l.name_id = u.name_id
        AND l.grid IS NOT DISTINCT FROM u.grid
        AND l.block IS NOT DISTINCT FROM u.block
        AND l.place = u.place
GROUP BY l.device_id, l.name_id, l.grid, l.block
HAVING min(u.seen) = any_value(l.iterations)
