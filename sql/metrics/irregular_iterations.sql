-- The steady iterations one by one, and which part of each grew most over the same part of the median iteration.
--
-- reads: iteration_window, budget_part, idle_cause, examined_iteration
-- row:   one steady iteration on one device
--
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration
-- name             VARCHAR  as marked
-- period_ns        BIGINT   its period, NULL for the last
-- grew_part        VARCHAR  compute, communication, copy or idle, NULL where nothing grew
-- grew_detail      VARCHAR  role of the computing phase, or cause of the idle time
-- grew_ns          DOUBLE   how much more than in the median iteration
-- open_range       VARCHAR  range on the host in the iteration's longest idle stretch, NULL where none was open
WITH steady AS (
    SELECT device_id, iteration_index, name, period_ns FROM iteration_window WHERE is_steady
),

part AS (
    SELECT DISTINCT device_id, part, coalesce(role, cause) AS detail FROM budget_part
),

spent AS (
    SELECT device_id, iteration_index, part, coalesce(role, cause) AS detail, sum(ns) AS ns
    FROM budget_part
    GROUP BY ALL
),

filled AS (
    SELECT s.device_id, s.iteration_index, p.part, p.detail, coalesce(b.ns, 0) AS ns
    FROM steady AS s
    INNER JOIN examined_iteration AS e ON s.device_id = e.device_id AND s.iteration_index = e.iteration_index
    INNER JOIN part AS p ON s.device_id = p.device_id
    LEFT JOIN spent AS b
        ON
            s.device_id = b.device_id
            AND s.iteration_index = b.iteration_index
            AND p.part = b.part
            AND p.detail IS NOT DISTINCT FROM b.detail
    WHERE NOT e.is_lead
),

grown AS (
    SELECT *, ns - median(ns) OVER (PARTITION BY device_id, part, detail) AS grew_ns FROM filled
),

most AS (
    SELECT * FROM grown WHERE grew_ns > 0
    QUALIFY row_number() OVER (PARTITION BY device_id, iteration_index ORDER BY grew_ns DESC, part, detail) = 1
),

longest AS (
    SELECT device_id, iteration_index, arg_max(open_range, idle_ns) AS open_range
    FROM idle_cause
    WHERE open_range IS NOT NULL AND iteration_index IS NOT NULL
    GROUP BY ALL
)

SELECT
    s.device_id,
    s.iteration_index,
    s.name,
    s.period_ns,
    m.part AS grew_part,
    m.detail AS grew_detail,
    m.grew_ns::DOUBLE AS grew_ns,
    l.open_range
FROM steady AS s
LEFT JOIN most AS m ON s.device_id = m.device_id AND s.iteration_index = m.iteration_index
LEFT JOIN longest AS l ON s.device_id = l.device_id AND s.iteration_index = l.iteration_index
