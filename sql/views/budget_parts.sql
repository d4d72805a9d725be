-- Where the time of each iteration went, without overlap: the parts of an iteration sum to its window exactly.
--
-- reads: budget_part, device
-- row:   one part of one iteration on one device
-- store: view
--
-- device_index     BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- part             VARCHAR  compute, communication (exposed), copy (exposed) or idle
-- role             VARCHAR  role of the phase, for compute, NULL where not known
-- cause            VARCHAR  cause, for idle
-- ms               DOUBLE   time
SELECT
    d.device_index::BIGINT AS device_index,
    b.iteration_index::BIGINT AS iteration_index,
    b.part,
    b.role,
    b.cause,
    sum(b.ns) / 1e6 AS ms
FROM budget_part AS b
INNER JOIN device AS d ON b.device_id = d.device_id
GROUP BY ALL
ORDER BY device_index, iteration_index, ms DESC, part, role, cause
