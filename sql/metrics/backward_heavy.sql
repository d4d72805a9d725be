-- Forward and backward of an iteration, and how alike its backward passes are.
--
-- reads: phase_instance
-- row:   one device with both phases, over its steady iterations
--
-- device_id            BIGINT  the device
-- forward_span_ns      DOUBLE  GPU spans of forward summed, in the median iteration
-- backward_span_ns     DOUBLE  GPU spans of backward summed, in the median iteration
-- forward_busy_ns      DOUBLE  busy time of forward, in the median iteration
-- backward_busy_ns     DOUBLE  busy time of backward, in the median iteration
-- backwards            DOUBLE  backward passes in the median iteration
-- largest_backward_ns  DOUBLE  busy time of the longest backward pass, in the median iteration
-- typical_backward_ns  DOUBLE  busy time of the median backward pass, in the median iteration
WITH summed AS (
    SELECT
        device_id,
        iteration_index,
        sum(span_ns) FILTER (phase = 'forward') AS forward_span_ns,
        sum(span_ns) FILTER (phase = 'backward') AS backward_span_ns,
        sum(busy_ns) FILTER (phase = 'forward') AS forward_busy_ns,
        sum(busy_ns) FILTER (phase = 'backward') AS backward_busy_ns,
        count(*) FILTER (phase = 'backward') AS backwards,
        max(busy_ns) FILTER (phase = 'backward') AS largest_backward_ns,
        median(busy_ns) FILTER (phase = 'backward') AS typical_backward_ns
    FROM phase_instance
    WHERE phase IN ('forward', 'backward') AND is_steady
    GROUP BY ALL
    HAVING count(DISTINCT phase) = 2
)

SELECT
    device_id,
    median(forward_span_ns)::DOUBLE AS forward_span_ns,
    median(backward_span_ns)::DOUBLE AS backward_span_ns,
    median(forward_busy_ns)::DOUBLE AS forward_busy_ns,
    median(backward_busy_ns)::DOUBLE AS backward_busy_ns,
    median(backwards)::DOUBLE AS backwards,
    median(largest_backward_ns)::DOUBLE AS largest_backward_ns,
    median(typical_backward_ns)::DOUBLE AS typical_backward_ns
FROM summed
GROUP BY device_id
