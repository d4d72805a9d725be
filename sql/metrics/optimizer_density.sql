-- How densely an optimizer fills the device: many short kernels with idle between them, or few long ones.
--
-- reads: phase_instance
-- row:   one iteration on one device that has an optimizer phase with kernels
--
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- name             VARCHAR  the phase as the program marks it, its role where it does not
-- is_steady        BOOLEAN  whether the iteration is in the steady state
-- kernels          BIGINT   kernels of its optimizer phases
-- kernel_ns        BIGINT   their lengths, summed
-- span_ns          BIGINT   GPU spans of the phases, summed
-- busy_ns          BIGINT   busy time in them, summed
-- mean_kernel_us   DOUBLE   mean length of a kernel
-- kernels_per_ms   DOUBLE   kernels in a millisecond of the span
-- busy_pct         DOUBLE   share of the span in which the device was busy, in percent
WITH phases AS (
    SELECT
        device_id,
        iteration_index,
        mode(coalesce(name, phase)) AS name,
        bool_or(coalesce(is_steady, false)) AS is_steady,
        sum(kernels)::BIGINT AS kernels,
        sum(kernel_ns)::BIGINT AS kernel_ns,
        sum(span_ns)::BIGINT AS span_ns,
        sum(busy_ns)::BIGINT AS busy_ns
    FROM phase_instance
    WHERE phase = 'optimizer' AND iteration_index IS NOT NULL
    GROUP BY ALL
)

SELECT
    *,
    kernel_ns / 1e3 / kernels AS mean_kernel_us,
    kernels / nullif(span_ns / 1e6, 0) AS kernels_per_ms,
    100 * busy_ns / nullif(span_ns, 0)::DOUBLE AS busy_pct
FROM phases
WHERE kernels > 0
