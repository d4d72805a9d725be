-- Copies within a device, an iteration.
--
-- reads: op_phase, phase_range, steady_iteration, gpu_op
-- row:   one device that makes such copies in its steady iterations
--
-- device_id   BIGINT   the device
-- copies      DOUBLE   copies an iteration
-- bytes       DOUBLE   bytes an iteration
-- copy_ns     DOUBLE   time in them, an iteration
-- range_name  VARCHAR  the phase that makes most of them, as the program marks it
SELECT
    s.device_id,
    count(*) / any_value(s.iterations) AS copies,
    (sum(coalesce(g.bytes, 0)) / any_value(s.iterations))::DOUBLE AS bytes,
    (sum(o.end_ns - o.start_ns) / any_value(s.iterations))::DOUBLE AS copy_ns,
    mode(coalesce(r.name, o.phase)) AS range_name
FROM op_phase AS o
INNER JOIN gpu_op AS g ON o.op_id = g.op_id
INNER JOIN steady_iteration AS s ON o.device_id = s.device_id AND o.iteration_index = s.iteration_index
LEFT JOIN phase_range AS r ON o.range_id = r.range_id
WHERE o.kind = 'memcpy' AND g.copy_kind = 'DtoD'
GROUP BY s.device_id
