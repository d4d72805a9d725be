-- The innermost push/pop range that owns each operation: of its launching thread, or where that has none the phase that
-- the thread works for.
--
-- reads: launched_op, range_edge, range_nesting, host_range, op_phase
-- row:   one operation that a range owns
--
-- op_id     BIGINT   the operation
-- range_id  BIGINT   the innermost range
-- is_own    BOOLEAN  whether that is a range of the launching thread
WITH RECURSIVE launch AS (
    SELECT DISTINCT call_id, thread_id, call_start_ns, call_end_ns FROM launched_op WHERE call_id IS NOT NULL
),

located AS (
    SELECT l.call_id, l.call_end_ns, r.range_id, r.end_ns
    FROM launch AS l
    ASOF INNER JOIN range_edge AS e ON l.thread_id = e.thread_id AND l.call_start_ns >= e.at_ns
    INNER JOIN host_range AS r ON e.range_id = r.range_id
),

climbing AS (
    -- a call that returns after the innermost range has closed belongs to the first range around that is still open
    SELECT call_id, call_end_ns, range_id, end_ns FROM located
    UNION ALL
    SELECT c.call_id, c.call_end_ns, p.range_id, p.end_ns
    FROM climbing AS c
    INNER JOIN range_nesting AS n ON c.range_id = n.range_id
    INNER JOIN host_range AS p ON n.parent_id = p.range_id
    WHERE c.end_ns < c.call_end_ns
),

own AS (
    SELECT call_id, range_id FROM climbing WHERE end_ns >= call_end_ns
)

SELECT
    o.op_id,
    coalesce(own.range_id, p.range_id) AS range_id,
    own.range_id IS NOT NULL AS is_own
FROM launched_op AS o
LEFT JOIN own ON o.call_id = own.call_id
LEFT JOIN op_phase AS p ON o.op_id = p.op_id AND p.method = 'cross_thread'
WHERE coalesce(own.range_id, p.range_id) IS NOT NULL
