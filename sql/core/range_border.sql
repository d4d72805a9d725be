-- Moments at which the user's ranges open and close.
--
-- reads: user_range
-- row:   one moment of one process
-- store: view
--
-- process_id  BIGINT  the process
-- at_ns       BIGINT  the moment
SELECT process_id, start_ns AS at_ns
FROM user_range
UNION
-- what is launched at the moment of closing is launched within
SELECT process_id, end_ns + 1
FROM user_range
