-- Ranges that an iteration opens, of the program and of libraries alike, against what it launches.
--
-- reads: host_range, iteration, iteration_window, op_phase
-- row:   one device with steady iterations
--
-- device_id   BIGINT  the device
-- ranges      DOUBLE  ranges that its process opens, an iteration
-- operations  DOUBLE  GPU operations launched, an iteration
WITH steady AS (
    SELECT
        w.device_id,
        w.process_id,
        w.iteration_index,
        i.start_ns,
        lead(i.start_ns, 1, i.end_ns) OVER (PARTITION BY w.device_id ORDER BY i.start_ns) AS end_ns
    FROM iteration_window AS w
    INNER JOIN iteration AS i ON w.process_id = i.process_id AND w.iteration_index = i.iteration_index
    WHERE w.is_steady
),

opened AS (
    SELECT s.device_id, count(*) AS ranges
    FROM host_range AS r
    ASOF INNER JOIN steady AS s ON r.process_id = s.process_id AND r.start_ns >= s.start_ns
    WHERE r.start_ns < s.end_ns
    GROUP BY s.device_id
),

launched AS (
    SELECT s.device_id, count(*) AS operations
    FROM op_phase AS p
    INNER JOIN steady AS s ON p.device_id = s.device_id AND p.iteration_index = s.iteration_index
    GROUP BY s.device_id
)

SELECT
    s.device_id,
    coalesce(any_value(o.ranges), 0) / count(*) AS ranges,
    coalesce(any_value(l.operations), 0) / count(*) AS operations
FROM steady AS s
LEFT JOIN opened AS o ON s.device_id = o.device_id
LEFT JOIN launched AS l ON s.device_id = l.device_id
GROUP BY s.device_id
