-- The optimizer phase of an iteration: its kernels, its length on the GPU, and how much of that the GPU works.
--
-- reads: phase_instance
-- row:   one device with an optimizer phase, over its steady iterations
--
-- device_id       BIGINT   the device
-- name            VARCHAR  the phase as the program marks it
-- kernels         DOUBLE   kernels in the median iteration
-- mean_kernel_ns  DOUBLE   mean duration of a kernel
-- span_ns         DOUBLE   from first start to last end, summed over the phase's instances, in the median iteration
-- busy_ns         DOUBLE   busy time within, in the median iteration
WITH summed AS (
    SELECT
        device_id,
        iteration_index,
        mode(coalesce(name, phase)) AS name,
        sum(kernels) AS kernels,
        sum(kernel_ns) AS kernel_ns,
        sum(span_ns) AS span_ns,
        sum(busy_ns) AS busy_ns
    FROM phase_instance
    WHERE phase = 'optimizer' AND is_steady
    GROUP BY ALL
)

SELECT
    device_id,
    mode(name) AS name,
    median(kernels)::DOUBLE AS kernels,
    (sum(kernel_ns) / sum(kernels))::DOUBLE AS mean_kernel_ns,
    median(span_ns)::DOUBLE AS span_ns,
    median(busy_ns)::DOUBLE AS busy_ns
FROM summed
GROUP BY device_id
HAVING sum(kernels) > 0
