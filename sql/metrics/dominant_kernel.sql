-- The kernel that takes most of the computing time.
--
-- reads: op_class, op_name, op_phase, steady_iteration
-- row:   one device with kernels in its steady iterations
--
-- device_id       BIGINT   the device
-- kernel_name     VARCHAR  the kernel
-- launches        DOUBLE   its launches an iteration
-- kernel_ns       DOUBLE   its durations summed, an iteration
-- all_kernels_ns  DOUBLE   durations of all kernels but those that communicate, an iteration
WITH kernel AS (
    SELECT
        s.device_id,
        n.name,
        count(*) / any_value(s.iterations) AS launches,
        sum(o.end_ns - o.start_ns) / any_value(s.iterations) AS ns
    FROM op_phase AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    INNER JOIN op_name AS n ON o.name_id = n.name_id
    INNER JOIN steady_iteration AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
    WHERE o.kind = 'kernel' AND c.op_class = 'compute'
    GROUP BY ALL
)

SELECT
    device_id,
    arg_max(name, ns) AS kernel_name,
    arg_max(launches, ns) AS launches,
    max(ns)::DOUBLE AS kernel_ns,
    sum(ns)::DOUBLE AS all_kernels_ns
FROM kernel
GROUP BY device_id
