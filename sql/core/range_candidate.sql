-- The user's ranges with the GPU work that their process launched while each was open, on whatever thread.
--
-- reads: user_range, launch_clock
-- row:   one range
--
-- range_id         BIGINT   the range
-- process_id       BIGINT   its process
-- thread_id        BIGINT   its thread
-- domain           VARCHAR  NVTX domain
-- name             VARCHAR  as given by the program
-- family           VARCHAR  the name with each number replaced by #
-- role             VARCHAR  what the phase is, NULL where unknown
-- start_ns         BIGINT   opening
-- end_ns           BIGINT   closing
-- is_open          BOOLEAN  never closed within the capture
-- launching_calls  BIGINT   launching calls made meanwhile
-- launched_ns      BIGINT   sum of the durations of the operations recorded for them
SELECT
    r.range_id,
    r.process_id,
    r.thread_id,
    r.domain,
    r.name,
    r.family,
    r.role,
    r.start_ns,
    r.end_ns,
    r.is_open,
    closed.calls - opened.calls AS launching_calls,
    closed.gpu_ns - opened.gpu_ns AS launched_ns
FROM user_range AS r
INNER JOIN launch_clock AS opened ON r.process_id = opened.process_id AND r.start_ns = opened.at_ns
INNER JOIN launch_clock AS closed ON r.process_id = closed.process_id AND r.end_ns + 1 = closed.at_ns
