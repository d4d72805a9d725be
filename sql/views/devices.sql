-- Devices that did something: one CUDA ordinal of one process each.
--
-- reads: device, process, gpu_op, idle_gap
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
WITH idle AS (
    SELECT device_id, sum(gap_ns)::BIGINT AS idle_ns FROM idle_gap GROUP BY device_id
),

used AS (
    SELECT
        o.device_id,
        count(*) AS operations,
        min(o.start_ns) AS start_ns,
        max(o.end_ns) AS end_ns,
        max(o.end_ns) - min(o.start_ns) - coalesce(any_value(i.idle_ns), 0) AS busy_ns
    FROM gpu_op AS o
    LEFT JOIN idle AS i ON o.device_id = i.device_id
    GROUP BY o.device_id
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
    used.busy_ns / 1e6 AS busy_ms,
    100 * used.busy_ns / nullif(used.end_ns - used.start_ns, 0)::DOUBLE AS busy_pct
FROM device AS d
INNER JOIN used ON d.device_id = used.device_id
LEFT JOIN process AS p ON d.process_id = p.process_id
ORDER BY device_index
