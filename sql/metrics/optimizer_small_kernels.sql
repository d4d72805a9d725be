-- The optimizer phase of an iteration: its kernels, its length on the GPU, and how much of that the GPU works.
--
-- reads: optimizer_density
-- row:   one device with an optimizer phase, over its steady iterations
--
-- device_id       BIGINT   the device
-- name            VARCHAR  the phase as the program marks it
-- kernels         DOUBLE   kernels in the median iteration
-- mean_kernel_ns  DOUBLE   mean duration of a kernel
-- span_ns         DOUBLE   from first start to last end, summed over the phase's instances, in the median iteration
-- busy_ns         DOUBLE   busy time within, in the median iteration
SELECT
    device_id,
    mode(name) AS name,
    median(kernels)::DOUBLE AS kernels,
    (sum(kernel_ns) / sum(kernels))::DOUBLE AS mean_kernel_ns,
    median(span_ns)::DOUBLE AS span_ns,
    median(busy_ns)::DOUBLE AS busy_ns
FROM optimizer_density
WHERE is_steady
GROUP BY device_id
