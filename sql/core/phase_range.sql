-- Ranges that stand for a phase: those of a known role, and those of unknown role that lie directly below an iteration
-- or at the top. What contains iterations (an epoch, the whole training) is no phase, nor is an iteration itself.
--
-- reads: user_range, iteration
-- row:   one range
--
-- range_id       BIGINT   the range
-- process_id     BIGINT   its process
-- thread_id      BIGINT   its thread
-- name           VARCHAR  as given by the program
-- phase          VARCHAR  its role, or where that is unknown its name with each number replaced by #
-- is_known_role  BOOLEAN  whether the name told the role
-- start_ns       BIGINT   opening
-- end_ns         BIGINT   closing
-- is_open        BOOLEAN  never closed within the capture
WITH below AS (
    SELECT
        -- a phase whose end was lost ended when the next iteration began, at the latest
        r.* REPLACE (
            CASE
                WHEN r.is_open AND r.role IS NOT NULL THEN least(r.end_ns, coalesce(n.start_ns, r.end_ns)) ELSE r.end_ns
            END AS end_ns
        )
    FROM user_range AS r
    LEFT JOIN iteration AS i ON r.range_id = i.range_id
    ASOF LEFT JOIN iteration AS n ON r.process_id = n.process_id AND r.start_ns < n.start_ns
    WHERE i.range_id IS NULL AND r.thread_id = r.end_thread_id
),

containing AS (
    SELECT r.range_id
    FROM below AS r
    ASOF INNER JOIN iteration AS i ON r.process_id = i.process_id AND r.start_ns <= i.start_ns
    WHERE i.end_ns <= r.end_ns
),

outermost AS (
    -- running max of the ends before, so that a range within another of its kind is left out
    SELECT *
    FROM below
    WHERE role IS NULL AND style = 'push_pop' AND range_id NOT IN (SELECT range_id FROM containing)
    QUALIFY coalesce(max(end_ns) OVER (
        PARTITION BY thread_id ORDER BY start_ns, end_ns DESC, range_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) < end_ns, true)
)

SELECT range_id, process_id, thread_id, name, role AS phase, true AS is_known_role, start_ns, end_ns, is_open
FROM below
WHERE role IS NOT NULL AND range_id NOT IN (SELECT range_id FROM containing)
-- optim > Optimizer.step: one phase, not two
QUALIFY
    coalesce(max(end_ns) OVER (
        PARTITION BY thread_id, role
        ORDER BY start_ns, end_ns DESC, range_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) < end_ns, true)
UNION ALL
SELECT
    range_id, process_id, thread_id, name, coalesce(nullif(family, ''), '(unnamed)'), false, start_ns, end_ns, is_open
FROM outermost
