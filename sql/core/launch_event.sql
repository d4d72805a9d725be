-- Launching calls, and the operations recorded for calls, by the moment at which the call began.
--
-- reads: launch_call, launched_op
-- row:   one call, or one operation
-- store: view
--
-- process_id  BIGINT   the process
-- at_ns       BIGINT   the moment
-- calls       TINYINT  1 for a call
-- gpu_ns      BIGINT   duration of an operation, 0 for a call
SELECT process_id, start_ns AS at_ns, 1::TINYINT AS calls, 0::BIGINT AS gpu_ns
FROM launch_call
UNION ALL
SELECT process_id, call_start_ns, 0::TINYINT, end_ns - start_ns
FROM launched_op
WHERE call_start_ns IS NOT NULL
