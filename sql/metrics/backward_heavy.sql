-- Forward and backward of an iteration, and how alike its backward passes are. Communication is left out of what they
-- compute, as its time contains waiting.
--
-- reads: phase_instance, budget_part, op_class, op_phase
-- row:   one device with both phases, over its steady iterations
--
-- device_id            BIGINT  the device
-- forward_span_ns      DOUBLE  GPU spans of forward summed, in the median iteration
-- backward_span_ns     DOUBLE  GPU spans of backward summed, in the median iteration
-- forward_busy_ns      DOUBLE  time in which forward computes, in the median iteration
-- backward_busy_ns     DOUBLE  time in which backward computes, in the median iteration
-- backwards            DOUBLE  backward passes in the median iteration
-- largest_backward_ns  DOUBLE  computing of the longest backward pass, in the median iteration
-- typical_backward_ns  DOUBLE  computing of the median backward pass, in the median iteration
WITH computed AS (
    SELECT o.range_id, sum(o.end_ns - o.start_ns) AS ns
    FROM op_phase AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    WHERE o.phase = 'backward' AND o.range_id IS NOT NULL AND c.op_class = 'compute'
    GROUP BY o.range_id
),

spans AS (
    SELECT
        i.device_id,
        i.iteration_index,
        sum(i.span_ns) FILTER (i.phase = 'forward') AS forward_span_ns,
        sum(i.span_ns) FILTER (i.phase = 'backward') AS backward_span_ns,
        count(*) FILTER (i.phase = 'backward') AS backwards,
        max(c.ns) FILTER (i.phase = 'backward') AS largest_backward_ns,
        median(c.ns) FILTER (i.phase = 'backward') AS typical_backward_ns
    FROM phase_instance AS i
    LEFT JOIN computed AS c ON i.range_id = c.range_id
    WHERE i.phase IN ('forward', 'backward') AND i.is_steady
    GROUP BY ALL
    HAVING count(DISTINCT i.phase) = 2
),

busy AS (
    SELECT
        device_id,
        iteration_index,
        sum(ns) FILTER (role = 'forward') AS forward_busy_ns,
        sum(ns) FILTER (role = 'backward') AS backward_busy_ns
    FROM budget_part
    WHERE part = 'compute'
    GROUP BY ALL
)

SELECT
    s.device_id,
    median(s.forward_span_ns)::DOUBLE AS forward_span_ns,
    median(s.backward_span_ns)::DOUBLE AS backward_span_ns,
    median(coalesce(b.forward_busy_ns, 0))::DOUBLE AS forward_busy_ns,
    median(coalesce(b.backward_busy_ns, 0))::DOUBLE AS backward_busy_ns,
    median(s.backwards)::DOUBLE AS backwards,
    median(s.largest_backward_ns)::DOUBLE AS largest_backward_ns,
    median(s.typical_backward_ns)::DOUBLE AS typical_backward_ns
FROM spans AS s
LEFT JOIN busy AS b ON s.device_id = b.device_id AND s.iteration_index = b.iteration_index
GROUP BY s.device_id
