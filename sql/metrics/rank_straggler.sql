-- What each rank's coming late costs the run in a steady iteration, beside what its device does in it.
--
-- reads: rank_iteration, clock_offset
-- row:   one device that ran steady iterations and communicates with another of the recording
--
-- device_id          BIGINT   the device
-- device_index       BIGINT   number of the device in reports
-- rank               BIGINT   rank of its process, else its place among the processes of the file
-- steady_iterations  BIGINT   iterations that the medians are over
-- first_iteration    BIGINT   the first of them
-- last_iteration     BIGINT   the last of them
-- median_period_ns   BIGINT   median period
-- median_lost_ns     BIGINT   median of what the run loses by this rank
-- usual_lost_ns      BIGINT   what the run loses by it in two of three iterations, at least
-- median_wait_ns     BIGINT   median of its waiting for others in collectives, hidden or not
-- exposed_wait_ns    BIGINT   median of its waiting that no computing hides
-- compute_ns         BIGINT   median time in which its device computes
-- idle_ns            BIGINT   median time in which its device has nothing to do
-- collectives        BIGINT   median operations an iteration in which another rank took part
-- last_share         DOUBLE   share of the collectives in which it came last
-- clock_residual_ns  BIGINT   how far the ends of shared collectives are apart after the clocks were aligned, NULL on one clock
SELECT
    r.device_id,
    r.device_index,
    coalesce(r.rank, row_number() OVER (ORDER BY r.device_index) - 1) AS rank,
    count(*) AS steady_iterations,
    min(r.iteration_index) AS first_iteration,
    max(r.iteration_index) AS last_iteration,
    median(r.period_ns)::BIGINT AS median_period_ns,
    median(r.lost_ns)::BIGINT AS median_lost_ns,
    quantile_disc(r.lost_ns, 1.0 / 3)::BIGINT AS usual_lost_ns,
    median(r.wait_ns)::BIGINT AS median_wait_ns,
    median(r.exposed_wait_ns)::BIGINT AS exposed_wait_ns,
    median(r.compute_ns)::BIGINT AS compute_ns,
    median(r.idle_ns)::BIGINT AS idle_ns,
    median(r.matched_ops)::BIGINT AS collectives,
    sum(r.last_ops)::DOUBLE / sum(r.matched_ops) AS last_share,
    any_value(k.residual_ns) AS clock_residual_ns
FROM rank_iteration AS r
INNER JOIN clock_offset AS k ON (r.device_id >> 32) = k.source_id
WHERE r.is_steady AND r.matched_ops > 0
GROUP BY r.device_id, r.device_index, r.rank
