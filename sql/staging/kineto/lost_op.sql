-- Operations that the profiler recorded without a time (ts = dur = 0).
--
-- reads: raw.gpu_op
-- row:   one kind of operation
--
-- kind   VARCHAR  kernel, memcpy, memset or graph
-- count  BIGINT   how many have no time
SELECT
    CASE kind WHEN 0 THEN 'kernel' WHEN 1 THEN 'memcpy' ELSE 'memset' END AS kind,
    count(*) AS count
FROM raw."gpu_op"
WHERE start = 0 AND "end" = 0
GROUP BY ALL
