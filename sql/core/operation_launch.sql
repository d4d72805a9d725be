-- Launches of GPU operations, one for each operation, as operators need them.
--
-- reads: op_phase
-- row:   one operation whose launch was recorded
-- store: view
--
-- thread_id  BIGINT  the launching thread
-- at_ns      BIGINT  start of the call
-- gpu_ns     BIGINT  length of the operation
SELECT
    thread_id,
    call_start_ns AS at_ns,
    end_ns - start_ns AS gpu_ns
FROM op_phase
WHERE call_id IS NOT NULL
