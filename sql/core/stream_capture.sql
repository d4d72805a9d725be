-- Stretches in which a process captured its launches into a CUDA graph instead of running them.
--
-- reads: api_call, api_name
-- row:   one capture
--
-- process_id  BIGINT  the process
-- start_ns    BIGINT  return of the call that began it
-- end_ns      BIGINT  start of the call that ended it
WITH border AS (
    SELECT c.process_id, c.thread_id, c.start_ns, c.end_ns, contains(n.name, 'BeginCapture') AS begins
    FROM api_call AS c
    INNER JOIN api_name AS n ON c.name_id = n.name_id
    WHERE regexp_matches(n.name, 'Stream(BeginCapture|EndCapture)')
)

SELECT b.process_id, b.end_ns AS start_ns, e.start_ns AS end_ns
FROM (SELECT * FROM border WHERE begins) AS b
ASOF INNER JOIN (SELECT * FROM border WHERE NOT begins) AS e ON b.thread_id = e.thread_id AND b.end_ns <= e.start_ns
