-- Every time that a phase ran: forward, backward, optimizer and what else the program marked.
--
-- reads: phase_instance, device
-- row:   one phase on one device, once
-- store: view
--
-- device_index     BIGINT   the device
-- iteration_index  BIGINT   the iteration it belongs to, NULL outside of iterations
-- phase            VARCHAR  its role (forward, backward, optimizer ...), or its name where the role is not known
-- name             VARCHAR  name of its range, NULL where a label on the operations marks it
-- start_ms         DOUBLE   start of its first operation on the trace clock
-- end_ms           DOUBLE   end of its last operation on the trace clock
-- gpu_span_ms      DOUBLE   from its first operation's start to its last one's end
-- gpu_busy_ms      DOUBLE   time in which at least one of its operations ran
-- cpu_ms           DOUBLE   length of the range on the host, NULL where there is none
-- operations       BIGINT   its GPU operations
-- kernels          BIGINT   kernels among them
-- mean_kernel_us   DOUBLE   mean length of these, NULL where there is none
-- attribution      VARCHAR  how its operations were given to it: direct, cross_thread, graph or annotation
-- is_steady        BOOLEAN  whether its iteration is in the steady state
SELECT
    d.device_index::BIGINT AS device_index,
    p.iteration_index::BIGINT AS iteration_index,
    p.phase,
    p.name,
    p.start_ns / 1e6 AS start_ms,
    p.end_ns / 1e6 AS end_ms,
    p.span_ns / 1e6 AS gpu_span_ms,
    p.busy_ns / 1e6 AS gpu_busy_ms,
    p.cpu_ns / 1e6 AS cpu_ms,
    p.ops::BIGINT AS operations,
    p.kernels::BIGINT AS kernels,
    p.kernel_ns / 1e3 / nullif(p.kernels, 0) AS mean_kernel_us,
    p.method AS attribution,
    p.is_steady
FROM phase_instance AS p
INNER JOIN device AS d ON p.device_id = d.device_id
ORDER BY device_index, start_ms, phase, p.range_id
