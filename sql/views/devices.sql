-- Devices that did something: one CUDA ordinal of one process each.
--
-- reads: device, process, busy_interval, gpu_op
-- row:   one device with at least one operation
-- store: view
--
-- device_index   BIGINT   the device, counted from 0 over the run
-- process_index  BIGINT   its process, counted from 0 over the run
-- process_name   VARCHAR  file name of the executable, NULL where not recorded
-- ordinal        BIGINT   CUDA ordinal in its process
-- rank           BIGINT   rank in a distributed run, NULL where not known
-- name           VARCHAR  such as NVIDIA H200, NULL where not recorded
-- operations     BIGINT   operations on it
-- start_ms       DOUBLE   start of its first operation on the trace clock
-- end_ms         DOUBLE   end of its last operation on the trace clock
-- busy_ms        DOUBLE   time with at least one operation running
-- busy_pct       DOUBLE   busy time as a share of the time from its first operation to its last, in percent
WITH busy AS (
    SELECT device_id, sum(end_ns - start_ns)::BIGINT AS busy_ns FROM busy_interval GROUP BY device_id
),

used AS (
    SELECT device_id, count(*) AS operations, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM gpu_op
    GROUP BY device_id
)

SELECT
    d.device_index::BIGINT AS device_index,
    p.process_index::BIGINT AS process_index,
    p.name AS process_name,
    d.ordinal::BIGINT AS ordinal,
    coalesce(d.rank, p.rank)::BIGINT AS rank,
    d.name,
    used.operations,
    used.start_ns / 1e6 AS start_ms,
    used.end_ns / 1e6 AS end_ms,
    coalesce(busy.busy_ns, 0) / 1e6 AS busy_ms,
    100 * coalesce(busy.busy_ns, 0) / nullif(used.end_ns - used.start_ns, 0)::DOUBLE AS busy_pct
FROM device AS d
INNER JOIN used ON d.device_id = used.device_id
LEFT JOIN process AS p ON d.process_id = p.process_id
LEFT JOIN busy ON d.device_id = busy.device_id
ORDER BY device_index
