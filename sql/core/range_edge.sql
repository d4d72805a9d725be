-- The push/pop range that is innermost on a thread from a moment on.
--
-- reads: range_sweep
-- row:   one moment at which ranges open or close on a thread
--
-- thread_id  BIGINT  the thread
-- at_ns      BIGINT  the moment
-- range_id   BIGINT  the innermost range open from then on, NULL where none is
SELECT thread_id, at_ns, arg_max_null(innermost_id, place) AS range_id
FROM range_sweep
GROUP BY thread_id, at_ns
