-- How many calls of operators the recorder itself listed, which costs the host time in each.
--
-- reads: operator
-- row:   one process that has some
--
-- process_id  BIGINT  the process
-- operators   BIGINT  its calls
SELECT process_id, count(*) AS operators
FROM operator
GROUP BY process_id
