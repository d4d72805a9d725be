-- What each iteration's window on a device holds of work, in three layers that each take in the one before: time with
-- compute, time with compute or communication, and busy time.
--
-- reads: gpu_op, op_class, compute_stretch, busy_interval, iteration_window
-- row:   one layer of one window, and for compute one phase of it
--
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- layer            VARCHAR  compute, communication (or compute) or busy
-- phase            VARCHAR  for compute, the phase, NULL where there is none; NULL for the other layers
-- ns               BIGINT   time
WITH communicating AS (
    SELECT DISTINCT o.device_id
    FROM gpu_op AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id AND c.op_class = 'communication'
),

either AS (
    SELECT
        o.device_id,
        greatest(o.start_ns, coalesce(max(o.end_ns) OVER (
            PARTITION BY o.device_id
            ORDER BY o.start_ns, o.end_ns, o.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), o.start_ns)) AS start_ns,
        o.end_ns
    FROM gpu_op AS o
    INNER JOIN communicating AS m ON o.device_id = m.device_id
    INNER JOIN op_class AS c ON o.name_id = c.name_id AND c.op_class <> 'copy'
),

stretch AS (
    SELECT 'compute' AS layer, device_id, phase, start_ns, end_ns FROM compute_stretch
    UNION ALL
    SELECT 'communication', device_id, NULL, start_ns, end_ns FROM either WHERE end_ns > start_ns
    UNION ALL
    SELECT 'busy', device_id, NULL, start_ns, end_ns FROM busy_interval
),

placed AS (
    SELECT
        s.*,
        w.iteration_index,
        w.end_ns AS window_end_ns
    FROM stretch AS s
    ASOF LEFT JOIN iteration_window AS w ON s.device_id = w.device_id AND s.start_ns >= w.start_ns
),

part AS (
    SELECT layer, device_id, iteration_index, phase, least(end_ns, window_end_ns) - start_ns AS ns
    FROM placed
    WHERE window_end_ns > start_ns
    UNION ALL
    -- the few that reach into windows after the one that they begin in, or before the first
    SELECT p.layer, p.device_id, w.iteration_index, p.phase, least(p.end_ns, w.end_ns) - w.start_ns
    FROM placed AS p
    INNER JOIN iteration_window AS w
        ON p.device_id = w.device_id AND p.start_ns < w.start_ns AND p.end_ns > w.start_ns
    WHERE p.window_end_ns IS NULL OR p.end_ns > p.window_end_ns
)

SELECT device_id, iteration_index, layer, phase, sum(ns)::BIGINT AS ns
FROM part
GROUP BY ALL
