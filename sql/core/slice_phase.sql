-- The phase that a thread launches for in each slice of host time: the one open on the thread itself, else the one open
-- elsewhere in its process, if the thread is a helper.
--
-- Nearly all that a helper launches falls into phases of one kind, as autograd's thread does with backward; what a
-- prefetcher launches falls everywhere, and belongs to no phase. Where roles are unknown, a phase may hold forward and
-- backward both (a GAN's steps), and autograd works for several; then it is told by the threads taking turns: nearly
-- all its launches follow one of its own, as the thread that called backward waits. A prefetcher's lie in between. Nor does a helper have phases of its own, but for those
-- that lie within the phases that it works for (a hook's, in backward): a thread with others works for itself.
--
-- reads: launch_moment, launch_slice, phase_edge, phase_range
-- row:   one thread in one slice for which a phase is found
--
-- process_id      BIGINT   the process
-- thread_id       BIGINT   the thread
-- at_ns           BIGINT   beginning of the slice
-- known_range_id  BIGINT   range of the phase of known role, NULL where there is none
-- known_method    VARCHAR  direct or cross_thread
-- other_range_id  BIGINT   range of the phase of unknown role, NULL where there is none
-- other_method    VARCHAR  direct or cross_thread
WITH kind AS (
    SELECT DISTINCT is_known_role FROM phase_range
),

own AS (
    SELECT m.process_id, m.thread_id, m.at_ns, m.launches, k.is_known_role, e.range_id
    FROM launch_slice AS m
    CROSS JOIN kind AS k
    ASOF LEFT JOIN phase_edge AS e
        ON m.thread_id = e.thread_id AND k.is_known_role = e.is_known_role AND m.at_ns >= e.at_ns
),

phase_thread AS (
    SELECT DISTINCT process_id, thread_id, is_known_role FROM phase_range
),

elsewhere AS (
    SELECT o.process_id, o.thread_id, o.at_ns, o.launches, o.is_known_role, e.range_id
    FROM own AS o
    INNER JOIN
        phase_thread AS t
        ON o.process_id = t.process_id AND o.is_known_role = t.is_known_role AND o.thread_id <> t.thread_id
    ASOF LEFT JOIN phase_edge AS e
        ON t.thread_id = e.thread_id AND o.is_known_role = e.is_known_role AND o.at_ns >= e.at_ns
    WHERE o.range_id IS NULL
),

only_one AS (
    -- NULL where phases are open on several threads, or on none
    SELECT
        process_id, thread_id, at_ns, launches, is_known_role,
        CASE WHEN count(range_id) = 1 THEN max(range_id) END AS range_id
    FROM elsewhere
    GROUP BY ALL
),

spread AS (
    SELECT o.thread_id, o.is_known_role, p.phase, sum(o.launches) AS launches
    FROM only_one AS o
    LEFT JOIN phase_range AS p ON o.range_id = p.range_id
    GROUP BY ALL
),

turn AS (
    SELECT
        process_id,
        thread_id,
        coalesce(lag(thread_id) OVER (PARTITION BY process_id ORDER BY at_ns, thread_id) = thread_id, false) AS is_next
    FROM launch_moment
    WHERE process_id IN (SELECT process_id FROM only_one WHERE NOT is_known_role)
),

turn_taker AS (
    SELECT thread_id
    FROM turn
    GROUP BY thread_id
    HAVING count(*) FILTER (WHERE is_next) >= getvariable('helper_role_share') * count(*)
),

follower AS (
    SELECT s.thread_id, s.is_known_role, arg_max(s.phase, s.launches) FILTER (WHERE s.phase IS NOT NULL) AS phase
    FROM spread AS s
    LEFT JOIN turn_taker AS t ON s.thread_id = t.thread_id AND NOT s.is_known_role
    GROUP BY s.thread_id, s.is_known_role
    HAVING
        CASE
            WHEN count(t.thread_id) > 0 THEN sum(s.launches) FILTER (WHERE s.phase IS NOT NULL)
            ELSE max(s.launches) FILTER (WHERE s.phase IS NOT NULL)
        END >= getvariable('helper_role_share') * sum(s.launches)
),

-- a follower's own phases, and whether one of the kind that it follows is open elsewhere all the while
own_phase AS (
    SELECT
        f.thread_id,
        f.is_known_role,
        p.range_id,
        coalesce(bool_or(w.phase = f.phase AND w.end_ns >= p.end_ns), false) AS is_within
    FROM follower AS f
    INNER JOIN phase_range AS p ON f.thread_id = p.thread_id AND f.is_known_role = p.is_known_role
    INNER JOIN
        phase_thread AS t
        ON p.process_id = t.process_id AND p.is_known_role = t.is_known_role AND p.thread_id <> t.thread_id
    ASOF LEFT JOIN phase_edge AS e
        ON t.thread_id = e.thread_id AND p.is_known_role = e.is_known_role AND p.start_ns >= e.at_ns
    LEFT JOIN phase_range AS w ON e.range_id = w.range_id
    GROUP BY ALL
),

helper AS (
    SELECT f.thread_id, f.is_known_role
    FROM follower AS f
    LEFT JOIN own_phase AS o ON f.thread_id = o.thread_id AND f.is_known_role = o.is_known_role
    GROUP BY f.thread_id, f.is_known_role
    HAVING count(o.range_id) FILTER (WHERE o.is_within) >= getvariable('helper_role_share') * count(o.range_id)
),

found AS (
    SELECT process_id, thread_id, at_ns, is_known_role, range_id, 'direct' AS method
    FROM own
    WHERE range_id IS NOT NULL
    UNION ALL
    SELECT o.process_id, o.thread_id, o.at_ns, o.is_known_role, o.range_id, 'cross_thread'
    FROM only_one AS o
    INNER JOIN helper AS h ON o.thread_id = h.thread_id AND o.is_known_role = h.is_known_role
    WHERE o.range_id IS NOT NULL
)

SELECT
    process_id,
    thread_id,
    at_ns,
    max(range_id) FILTER (WHERE is_known_role) AS known_range_id,
    max(method) FILTER (WHERE is_known_role) AS known_method,
    max(range_id) FILTER (WHERE NOT is_known_role) AS other_range_id,
    max(method) FILTER (WHERE NOT is_known_role) AS other_method
FROM found
GROUP BY process_id, thread_id, at_ns
