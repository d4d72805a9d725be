-- Phases by role, over all devices: medians over the steady iterations, or over all instances where none is steady.
--
-- reads: phase_instances
-- row:   one phase
-- store: view
--
-- phase                 VARCHAR    its role, or its name where the role is not known
-- names                 VARCHAR[]  names of its ranges
-- instances             BIGINT     how often it ran, counted per device, over the whole trace
-- counted               BIGINT     instances that the medians are taken over
-- gpu_span_ms           DOUBLE     median time from its first operation's start to its last one's end
-- gpu_busy_ms           DOUBLE     median time in which at least one of its operations ran
-- cpu_ms                DOUBLE     median length of its range on the host, NULL where there is none
-- kernels_per_instance  DOUBLE     median number of kernels
-- mean_kernel_us        DOUBLE     mean length of a kernel, NULL where there is none
WITH instance AS (
    SELECT
        *,
        is_steady OR NOT bool_or(is_steady) OVER (PARTITION BY phase) AS counts
    FROM phase_instances
)

SELECT
    phase,
    coalesce(list_sort(list(DISTINCT name) FILTER (name IS NOT NULL)), []) AS names,
    count(*) AS instances,
    count(*) FILTER (counts) AS counted,
    median(gpu_span_ms) FILTER (counts) AS gpu_span_ms,
    median(gpu_busy_ms) FILTER (counts) AS gpu_busy_ms,
    median(cpu_ms) FILTER (counts) AS cpu_ms,
    median(kernels) FILTER (counts) AS kernels_per_instance,
    sum(mean_kernel_us * kernels) FILTER (counts) / nullif(sum(kernels) FILTER (counts), 0)::DOUBLE AS mean_kernel_us
FROM instance
GROUP BY phase
ORDER BY gpu_span_ms DESC, phase
