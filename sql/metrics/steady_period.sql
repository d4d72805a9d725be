-- The steady state of each device: how many iterations it has, and how long they take.
--
-- reads: iteration_window, device
-- row:   one device with iterations
--
-- device_id          BIGINT  the device
-- device_index       BIGINT  its number in reports
-- rank               BIGINT  rank of its process
-- iterations         BIGINT  iterations, steady or not
-- steady_iterations  BIGINT  steady ones
-- first_iteration    BIGINT  index of the first steady one
-- last_iteration     BIGINT  index of the last steady one
-- start_ns           BIGINT  start of the first steady one's window
-- end_ns             BIGINT  end of the last steady one's window
-- median_period_ns   DOUBLE  median period of the steady ones, NULL where they are too few
-- mean_period_ns     DOUBLE  mean period of the steady ones, NULL where they are too few
WITH counted AS (
    SELECT
        device_id,
        count(*) AS iterations,
        count(*) FILTER (is_steady) AS steady_iterations,
        min(iteration_index) FILTER (is_steady) AS first_iteration,
        max(iteration_index) FILTER (is_steady) AS last_iteration,
        min(start_ns) FILTER (is_steady) AS start_ns,
        max(end_ns) FILTER (is_steady) AS end_ns,
        median(period_ns) FILTER (is_steady)::DOUBLE AS median_period_ns,
        avg(period_ns) FILTER (is_steady) AS mean_period_ns
    FROM iteration_window
    GROUP BY device_id
)

SELECT
    c.device_id,
    d.device_index,
    d.rank,
    c.iterations,
    c.steady_iterations,
    c.first_iteration,
    c.last_iteration,
    c.start_ns,
    c.end_ns,
    CASE WHEN c.steady_iterations >= getvariable('min_iterations') THEN c.median_period_ns END AS median_period_ns,
    CASE WHEN c.steady_iterations >= getvariable('min_iterations') THEN c.mean_period_ns END AS mean_period_ns
FROM counted AS c
INNER JOIN device AS d ON c.device_id = d.device_id
