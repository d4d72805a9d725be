-- Each iteration of each rank: what its device did, how long it waited for others, and how long it let others wait.
--
-- reads: iteration_window, device, collective, window_work
-- row:   one iteration on one device
--
-- device_id         BIGINT   the device
-- device_index      BIGINT   number of the device in reports
-- rank              BIGINT   rank of its process, NULL where unknown
-- iteration_index   BIGINT   the iteration
-- is_steady         BOOLEAN  whether statistics count it
-- period_ns         BIGINT   start to start, NULL for the last
-- busy_ns           BIGINT   time in its window in which an operation ran
-- compute_ns        BIGINT   time in its window in which the device computed
-- idle_ns           BIGINT   the rest of its window that is not busy
-- collectives       BIGINT   its operations that communicate
-- communication_ns  BIGINT   their durations summed
-- exposed_ns        BIGINT   time in them that no computing hides
-- wait_ns           BIGINT   waiting for others in them, NULL where no collective has another rank of the recording
-- exposed_wait_ns   BIGINT   part of that which no computing hides, NULL likewise
-- wait_cost_ns      BIGINT   what that waiting costs it: the exposed part, and the multiprocessors that waiting kernels keep from computing, NULL likewise
-- cost_ns           BIGINT   what its coming last costs the rank that it costs least, which would hold up the run next
-- lost_ns           BIGINT   cost less what its own waiting costs: what the run loses by this rank, below zero where it is a victim itself
-- last_ops          BIGINT   its collectives in which it came last
-- matched_ops       BIGINT   its collectives in which another rank of the recording took part
WITH worked AS (
    SELECT
        device_id,
        iteration_index,
        coalesce(sum(ns) FILTER (layer = 'busy'), 0)::BIGINT AS busy_ns,
        coalesce(sum(ns) FILTER (layer = 'compute'), 0)::BIGINT AS compute_ns
    FROM window_work
    GROUP BY device_id, iteration_index
),

own AS (
    SELECT
        device_id,
        iteration_index,
        count(*) AS collectives,
        sum(end_ns - start_ns) AS communication_ns,
        sum(exposed_ns) AS exposed_ns,
        sum(wait_ns) AS wait_ns,
        sum(exposed_wait_ns) AS exposed_wait_ns,
        sum(wait_cost_ns) AS wait_cost_ns,
        count(*) FILTER (last_device_id = device_id) AS last_ops,
        count(last_device_id) AS matched_ops
    FROM collective
    GROUP BY device_id, iteration_index
),

crew AS (
    SELECT instance_id, list_sort(list(device_id)) AS device_ids
    FROM collective
    WHERE last_device_id IS NOT NULL
    GROUP BY instance_id
),

waited AS (
    -- for whom, in which of its iterations, with whom
    SELECT
        late.device_id,
        late.iteration_index,
        crew.device_ids,
        w.device_id AS waiting_id,
        sum(w.last_wait_cost_ns) AS waited_ns
    FROM collective AS late
    INNER JOIN collective AS w ON late.instance_id = w.instance_id AND late.device_id <> w.device_id
    INNER JOIN crew ON late.instance_id = crew.instance_id
    WHERE late.device_id = late.last_device_id
    GROUP BY ALL
),

least_waited AS (
    -- the rank that waited least would hold the run up next
    SELECT device_id, iteration_index, device_ids, min(waited_ns) AS cost_ns
    FROM waited
    GROUP BY device_id, iteration_index, device_ids
),

cost AS (
    -- ranks of several groups may wait for one at the same time: the same moments count once
    SELECT device_id, iteration_index, max(cost_ns) AS cost_ns
    FROM least_waited
    GROUP BY device_id, iteration_index
)

SELECT
    i.device_id,
    d.device_index,
    d.rank,
    i.iteration_index,
    i.is_steady,
    i.period_ns,
    w.busy_ns,
    w.compute_ns,
    i.end_ns - i.start_ns - w.busy_ns AS idle_ns,
    coalesce(o.collectives, 0) AS collectives,
    coalesce(o.communication_ns, 0)::BIGINT AS communication_ns,
    coalesce(o.exposed_ns, 0)::BIGINT AS exposed_ns,
    o.wait_ns::BIGINT AS wait_ns,
    o.exposed_wait_ns::BIGINT AS exposed_wait_ns,
    o.wait_cost_ns::BIGINT AS wait_cost_ns,
    CASE WHEN o.matched_ops > 0 THEN coalesce(c.cost_ns, 0) END::BIGINT AS cost_ns,
    CASE WHEN o.matched_ops > 0 THEN coalesce(c.cost_ns, 0) - o.wait_cost_ns END::BIGINT AS lost_ns,
    coalesce(o.last_ops, 0) AS last_ops,
    coalesce(o.matched_ops, 0) AS matched_ops
FROM iteration_window AS i
INNER JOIN device AS d ON i.device_id = d.device_id
INNER JOIN worked AS w ON i.device_id = w.device_id AND i.iteration_index = w.iteration_index
LEFT JOIN own AS o ON i.device_id = o.device_id AND i.iteration_index = o.iteration_index
LEFT JOIN cost AS c ON i.device_id = c.device_id AND i.iteration_index = c.iteration_index
