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

told_apart AS (
    SELECT
        *,
        -- in a healthy recording windows do not overlap; where iterations ran beside each other they can
        end_ns > start_ns AND start_ns >= coalesce(
            max(end_ns) OVER (
                PARTITION BY device_id ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            start_ns
        ) AS is_apart
    FROM iteration_window
),

sequence AS (
    SELECT
        device_id,
        iteration_index,
        start_ns,
        end_ns,
        lead(start_ns) OVER (PARTITION BY device_id ORDER BY start_ns) AS next_ns
    FROM told_apart
    WHERE is_apart
    UNION ALL
    -- what starts before the first window may still reach into it
    SELECT device_id, NULL, -9223372036854775808, -9223372036854775808, min(start_ns)
    FROM told_apart
    WHERE is_apart
    GROUP BY device_id
),

placed AS (
    SELECT s.*, w.iteration_index, w.end_ns AS window_end_ns, w.next_ns
    FROM stretch AS s
    ASOF INNER JOIN sequence AS w ON s.device_id = w.device_id AND s.start_ns >= w.start_ns
),

part AS (
    SELECT device_id, iteration_index, layer, phase, greatest(least(end_ns, window_end_ns) - start_ns, 0) AS ns
    FROM placed
    WHERE iteration_index IS NOT NULL
    UNION ALL
    SELECT p.device_id, w.iteration_index, p.layer, p.phase, least(p.end_ns, w.end_ns) - w.start_ns
    FROM placed AS p
    INNER JOIN told_apart AS w ON p.device_id = w.device_id AND w.start_ns > p.start_ns AND w.start_ns < p.end_ns
    WHERE p.end_ns > p.next_ns AND w.is_apart
    UNION ALL
    SELECT
        s.device_id, w.iteration_index, s.layer, s.phase, least(s.end_ns, w.end_ns) - greatest(s.start_ns, w.start_ns)
    FROM stretch AS s
    INNER JOIN told_apart AS w ON s.device_id = w.device_id AND s.start_ns < w.end_ns AND s.end_ns > w.start_ns
    WHERE NOT w.is_apart
)

SELECT device_id, iteration_index, layer, phase, sum(ns)::BIGINT AS ns
FROM part
GROUP BY ALL
