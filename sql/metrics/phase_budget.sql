-- What the time of each phase goes to: its computing, what of its other operations no compute hides, and the idle time
-- that ends with one of its operations.
--
-- reads: budget_part, idle_cause, iteration_window, phase_instance, op_class, examined_iteration, op_phase
-- row:   one phase, over the steady iterations of all devices
--
-- phase             VARCHAR  role, or name where the role is unknown
-- compute_ns        BIGINT   computing
-- communication_ns  BIGINT   communication that no compute of the phase hides
-- copy_ns           BIGINT   copies that neither hides
-- launch_ns         BIGINT   idle, waiting for the host's launches
-- wait_ns           BIGINT   idle for every other cause
WITH examined AS (
    SELECT w.device_id, w.iteration_index
    FROM iteration_window AS w
    INNER JOIN examined_iteration AS e ON w.device_id = e.device_id AND w.iteration_index = e.iteration_index
    WHERE w.is_steady AND NOT e.is_lead
),

computed AS (
    SELECT b.role AS phase, sum(b.ns)::BIGINT AS compute_ns
    FROM budget_part AS b
    INNER JOIN examined AS e ON b.device_id = e.device_id AND b.iteration_index = e.iteration_index
    WHERE b.part = 'compute'
    GROUP BY ALL
),

busy AS (
    SELECT p.phase, sum(p.busy_ns)::BIGINT AS busy_ns
    FROM phase_instance AS p
    INNER JOIN examined AS e ON p.device_id = e.device_id AND p.iteration_index = e.iteration_index
    WHERE p.is_steady
    GROUP BY ALL
),

-- how what is busy without computing divides between the two kinds, by length of their operations
other AS (
    SELECT
        p.phase,
        coalesce(sum(p.end_ns - p.start_ns) FILTER (c.op_class = 'communication'), 0) AS communication_ns,
        sum(p.end_ns - p.start_ns) AS all_ns
    FROM op_phase AS p
    INNER JOIN op_class AS c ON p.name_id = c.name_id
    WHERE c.op_class <> 'compute' AND p.phase IS NOT NULL
    GROUP BY ALL
),

idle AS (
    SELECT
        i.role AS phase,
        coalesce(sum(i.idle_ns) FILTER (i.cause = 'launch'), 0)::BIGINT AS launch_ns,
        coalesce(sum(i.idle_ns) FILTER (i.cause <> 'launch'), 0)::BIGINT AS wait_ns
    FROM idle_cause AS i
    INNER JOIN examined AS e ON i.device_id = e.device_id AND i.iteration_index = e.iteration_index
    GROUP BY ALL
),

exposed AS (
    SELECT
        busy.phase,
        coalesce(computed.compute_ns, 0) AS compute_ns,
        -- a phase without other operations has none exposed, however the two measures differ
        CASE
            WHEN other.all_ns > 0 THEN greatest(busy.busy_ns - coalesce(computed.compute_ns, 0), 0)
            ELSE 0
        END AS exposed_ns,
        coalesce(other.communication_ns / nullif(other.all_ns, 0), 0) AS communication_share
    FROM busy
    LEFT JOIN computed ON busy.phase = computed.phase
    LEFT JOIN other ON busy.phase = other.phase
)

SELECT
    e.phase,
    e.compute_ns,
    (e.exposed_ns * e.communication_share)::BIGINT AS communication_ns,
    (e.exposed_ns * (1 - e.communication_share))::BIGINT AS copy_ns,
    coalesce(i.launch_ns, 0) AS launch_ns,
    coalesce(i.wait_ns, 0) AS wait_ns
FROM exposed AS e
LEFT JOIN idle AS i ON e.phase = i.phase
