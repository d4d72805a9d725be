-- Iterations as the device saw them.
--
-- reads: iteration_window, device
-- row:   one iteration on one device
-- store: view
--
-- device_index     BIGINT   the device
-- iteration_index  BIGINT   the iteration, counted from 0 in its process
-- name             VARCHAR  name of its range, or how it was found where there are no ranges
-- start_ms         DOUBLE   start of its first operation on the trace clock
-- end_ms           DOUBLE   end of its last operation on the trace clock
-- period_ms        DOUBLE   from its start to the start of the next, NULL for the last
-- gap_ms           DOUBLE   from its last operation to the first of the next, NULL for the last
-- is_steady        BOOLEAN  whether it is in the steady state, over which every median is taken
SELECT
    d.device_index::BIGINT AS device_index,
    w.iteration_index::BIGINT AS iteration_index,
    w.name,
    w.start_ns / 1e6 AS start_ms,
    w.last_end_ns / 1e6 AS end_ms,
    w.period_ns / 1e6 AS period_ms,
    w.gap_ns / 1e6 AS gap_ms,
    w.is_steady
FROM iteration_window AS w
INNER JOIN device AS d ON w.device_id = d.device_id
ORDER BY device_index, iteration_index
