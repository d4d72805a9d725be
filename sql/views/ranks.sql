-- The ranks of a run side by side: medians over the steady iterations of each.
--
-- reads: rank_iteration, rank_straggler, clock_offset
-- row:   one device that ran steady iterations
-- store: view
--
-- device_index       BIGINT   the device
-- rank               BIGINT   rank of its process, NULL where not known
-- steady_iterations  BIGINT   iterations that the medians are over
-- period_ms          DOUBLE   from start to start
-- busy_ms            DOUBLE   time in which an operation runs
-- compute_ms         DOUBLE   time in which it computes
-- idle_ms            DOUBLE   time in which nothing runs
-- exposed_ms         DOUBLE   time in collectives that no computing hides
-- wait_ms            DOUBLE   waiting for other ranks in collectives, hidden or not, NULL where no other is in the recording
-- exposed_wait_ms    DOUBLE   part of that which no computing hides, NULL likewise
-- lost_ms            DOUBLE   what the run loses by this rank's coming late; below zero where it is the one that waits; NULL likewise
-- last_pct           DOUBLE   collectives in which it came last, in percent, NULL likewise
-- clock_offset_ms    DOUBLE   what brings its times onto the clock of the first file
-- clock_residual_us  DOUBLE   how far ends of shared collectives are apart after that, NULL where none told it
-- clock_method       VARCHAR  reference (the first file), collectives, session, or none: not aligned
WITH typical AS (
    SELECT
        device_id,
        device_index,
        rank,
        count(*) AS steady_iterations,
        median(period_ns) / 1e6 AS period_ms,
        median(busy_ns) / 1e6 AS busy_ms,
        median(compute_ns) / 1e6 AS compute_ms,
        median(idle_ns) / 1e6 AS idle_ms,
        median(exposed_ns) / 1e6 AS exposed_ms
    FROM rank_iteration
    WHERE is_steady
    GROUP BY device_id, device_index, rank
)

SELECT
    t.device_index::BIGINT AS device_index,
    coalesce(s.rank, t.rank) AS rank,
    t.steady_iterations,
    t.period_ms,
    t.busy_ms,
    t.compute_ms,
    t.idle_ms,
    t.exposed_ms,
    s.median_wait_ns / 1e6 AS wait_ms,
    s.exposed_wait_ns / 1e6 AS exposed_wait_ms,
    s.median_lost_ns / 1e6 AS lost_ms,
    100 * s.last_share AS last_pct,
    k.offset_ns / 1e6 AS clock_offset_ms,
    k.residual_ns / 1e3 AS clock_residual_us,
    k.method AS clock_method
FROM typical AS t
INNER JOIN clock_offset AS k ON (t.device_id >> 32) = k.source_id
LEFT JOIN rank_straggler AS s ON t.device_id = s.device_id
ORDER BY t.device_index
