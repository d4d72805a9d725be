-- Stretches of a device's time whose idle time is looked at. Where everything is looked at, one stretch without end.
--
-- reads: examined_iteration, iteration_window, device
-- row:   one stretch of one device
--
-- device_id   BIGINT   the device
-- process_id  BIGINT   its process
-- start_ns    BIGINT   start
-- end_ns      BIGINT   end
-- is_whole    BOOLEAN  everything is looked at
WITH total AS (
    SELECT device_id, count(*) AS iterations FROM iteration_window GROUP BY device_id
),

whole AS (
    SELECT d.device_id, d.process_id
    FROM device AS d
    LEFT JOIN total AS t ON d.device_id = t.device_id
    LEFT JOIN (SELECT device_id, count(*) AS iterations FROM examined_iteration GROUP BY device_id) AS e
        ON d.device_id = e.device_id
    WHERE t.iterations IS NULL OR e.iterations = t.iterations
),

looked_at AS (
    SELECT
        w.device_id,
        w.process_id,
        w.start_ns,
        w.end_ns,
        coalesce(w.start_ns > lag(w.end_ns) OVER (PARTITION BY w.device_id ORDER BY w.start_ns), true) AS opens
    FROM iteration_window AS w
    INNER JOIN examined_iteration AS e ON w.device_id = e.device_id AND w.iteration_index = e.iteration_index
    WHERE w.device_id NOT IN (SELECT device_id FROM whole)
),

stretch AS (
    SELECT
        *,
        sum(opens::INTEGER) OVER (PARTITION BY device_id ORDER BY start_ns) AS place
    FROM looked_at
),

span AS (
    SELECT device_id, any_value(process_id) AS process_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM stretch
    GROUP BY device_id, place
)

SELECT device_id, process_id, start_ns, end_ns, false AS is_whole
FROM span
UNION ALL
SELECT device_id, process_id, -4611686018427387904, 4611686018427387904, true
FROM whole
