-- Copies within a device, an iteration.
--
-- reads: launched_op, op_phase, phase_range, steady_iteration
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
    (sum(coalesce(o.bytes, 0)) / any_value(s.iterations))::DOUBLE AS bytes,
    (sum(o.end_ns - o.start_ns) / any_value(s.iterations))::DOUBLE AS copy_ns,
    mode(coalesce(r.name, p.phase)) AS range_name
FROM launched_op AS o
INNER JOIN op_phase AS p ON o.op_id = p.op_id
INNER JOIN steady_iteration AS s ON p.device_id = s.device_id AND p.iteration_index = s.iteration_index
LEFT JOIN phase_range AS r ON p.range_id = r.range_id
WHERE o.kind = 'memcpy' AND o.copy_kind = 'DtoD'
GROUP BY s.device_id
