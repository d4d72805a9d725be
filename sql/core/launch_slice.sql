-- How often each thread launched in each slice of host time.
--
-- reads: launch_moment, host_slice
-- row:   one thread in one slice in which it launched
--
-- process_id  BIGINT  the process
-- thread_id   BIGINT  the thread
-- at_ns       BIGINT  beginning of the slice, NULL before the first
-- launches    BIGINT  moments that decide which phase an operation belongs to
SELECT m.process_id, m.thread_id, s.at_ns, count(*) AS launches
FROM launch_moment AS m
ASOF LEFT JOIN host_slice AS s ON m.process_id = s.process_id AND m.at_ns >= s.at_ns
GROUP BY ALL
