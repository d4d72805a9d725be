-- The GPU work of push/pop ranges: what NVIDIA's projection finds on a range's own thread, and what helpers (autograd's
-- thread) launched for a phase in it.
--
-- reads: range_projection, range_parent, op_phase
-- row:   one range that owns operations
--
-- range_id  BIGINT  the range
-- start_ns  BIGINT  start of its first operation
-- end_ns    BIGINT  end of its last one
-- span_ns   BIGINT  from the one to the other
WITH RECURSIVE helped AS (
    SELECT range_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM op_phase
    WHERE method = 'cross_thread'
    GROUP BY range_id
),

climbing AS (
    SELECT * FROM helped
    -- UNION drops what was seen before, so that it ends whatever the trace says
    UNION
    SELECT p.parent_id, c.start_ns, c.end_ns
    FROM climbing AS c
    INNER JOIN range_parent AS p ON c.range_id = p.range_id
    WHERE p.parent_id IS NOT NULL
),

work AS (
    SELECT p.range_id, p.start_ns, p.end_ns
    FROM range_projection AS p
    INNER JOIN range_parent AS r ON p.range_id = r.range_id
    UNION ALL
    SELECT range_id, start_ns, end_ns FROM climbing
)

SELECT
    range_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    max(end_ns) - min(start_ns) AS span_ns
FROM work
GROUP BY range_id
