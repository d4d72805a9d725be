-- The leading iterations that the steady state leaves out.
--
-- reads: iteration_window
-- row:   one device with iterations
--
-- device_id           BIGINT  the device
-- leading_iterations  BIGINT  iterations before the first steady one
-- first_iteration     BIGINT  index of the first of them, NULL where there are none
-- last_iteration      BIGINT  index of the last of them, NULL where there are none
-- longest_ns          BIGINT  the longest of their periods, NULL where there are none
-- excess_ns           DOUBLE  their periods summed, less as many medians, NULL where there are none
WITH usual AS (
    SELECT
        device_id,
        min(iteration_index) FILTER (is_steady) AS first_steady,
        median(period_ns) FILTER (is_steady) AS period_ns
    FROM iteration_window
    GROUP BY device_id
)

SELECT
    u.device_id,
    count(w.iteration_index) AS leading_iterations,
    min(w.iteration_index) AS first_iteration,
    max(w.iteration_index) AS last_iteration,
    max(w.period_ns) AS longest_ns,
    (sum(w.period_ns) - count(*) * any_value(u.period_ns))::DOUBLE AS excess_ns
FROM usual AS u
LEFT JOIN iteration_window AS w ON u.device_id = w.device_id AND w.iteration_index < u.first_steady
GROUP BY u.device_id
