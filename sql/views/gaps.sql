-- Idle time between operations, split by what caused it.
--
-- reads: idle_cause, idle_gap, device, gpu_op, op_name
-- row:   one cause of one gap
-- store: view
--
-- device_index     BIGINT   the device
-- gap_id           BIGINT   the gap
-- iteration_index  BIGINT   the iteration, NULL outside of iterations
-- start_ns         BIGINT   start of the gap on the trace clock
-- end_ns           BIGINT   start of the operation that ends it
-- gap_ms           DOUBLE   length of the whole gap
-- cause            VARCHAR  dependency, sync, allocator, launch, input, host, profiler or unknown
-- idle_ms          DOUBLE   what this cause had of it
-- phase            VARCHAR  role of the phase in which it happened, NULL where not known
-- call             VARCHAR  the call that held the host up, NULL where none did
-- open_range       VARCHAR  range open on the host, NULL where none was
-- next_operation   VARCHAR  name of the operation that ends the gap
SELECT
    d.device_index::BIGINT AS device_index,
    c.gap_id,
    c.iteration_index::BIGINT AS iteration_index,
    g.start_ns,
    g.end_ns,
    g.gap_ns / 1e6 AS gap_ms,
    c.cause,
    c.idle_ns / 1e6 AS idle_ms,
    c.role AS phase,
    c.call_name AS call,
    c.open_range::VARCHAR AS open_range,
    op_name.short_name AS next_operation
FROM idle_cause AS c
INNER JOIN idle_gap AS g ON c.gap_id = g.gap_id
INNER JOIN device AS d ON c.device_id = d.device_id
LEFT JOIN gpu_op ON g.next_op_id = gpu_op.op_id
LEFT JOIN op_name ON gpu_op.name_id = op_name.name_id
ORDER BY idle_ms DESC, g.start_ns, cause, call
