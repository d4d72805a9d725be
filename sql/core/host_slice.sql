-- Slices of host time in which no phase and no iteration of a process opens or closes: each lasts until the next begins.
--
-- reads: phase_edge, iteration
-- row:   one slice of one process
--
-- process_id       BIGINT  the process
-- at_ns            BIGINT  its beginning
-- iteration_index  BIGINT  the iteration that is open in it, NULL where none is
WITH border AS (
    SELECT process_id, at_ns FROM phase_edge
    UNION
    SELECT process_id, start_ns FROM iteration
    UNION
    -- what is launched at the moment of closing is launched within
    SELECT process_id, end_ns + 1 FROM iteration
)

SELECT b.process_id, b.at_ns, CASE WHEN b.at_ns <= i.end_ns THEN i.iteration_index END AS iteration_index
FROM border AS b
ASOF LEFT JOIN iteration AS i ON b.process_id = i.process_id AND b.at_ns >= i.start_ns
