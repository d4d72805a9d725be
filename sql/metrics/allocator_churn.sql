-- Calls that allocate and release device memory, an iteration.
--
-- reads: api_call, api_kind, iteration, iteration_window
-- row:   one device whose process makes such calls in its steady iterations
--
-- device_id    BIGINT  the device
-- allocations  DOUBLE  allocating calls an iteration
-- releases     DOUBLE  releasing calls an iteration
-- call_ns      DOUBLE  time in both, an iteration
WITH steady AS (
    SELECT w.device_id, w.process_id, i.start_ns, lead(i.start_ns, 1, i.end_ns) OVER host AS end_ns
    FROM iteration_window AS w
    INNER JOIN iteration AS i ON w.process_id = i.process_id AND w.iteration_index = i.iteration_index
    WHERE w.is_steady
    WINDOW host AS (PARTITION BY w.device_id ORDER BY i.start_ns)
),

memory_call AS (
    SELECT c.process_id, c.start_ns, c.end_ns - c.start_ns AS call_ns, k.kind
    FROM api_call AS c
    INNER JOIN api_kind AS k ON c.name_id = k.name_id
    WHERE k.kind IN ('alloc', 'free')
),

iterations AS (
    SELECT device_id, count(*) AS iterations FROM steady GROUP BY device_id
)

SELECT
    s.device_id,
    count(*) FILTER (m.kind = 'alloc') / any_value(n.iterations) AS allocations,
    count(*) FILTER (m.kind = 'free') / any_value(n.iterations) AS releases,
    (sum(m.call_ns) / any_value(n.iterations))::DOUBLE AS call_ns
FROM steady AS s
INNER JOIN memory_call AS m ON s.process_id = m.process_id AND s.start_ns <= m.start_ns AND m.start_ns < s.end_ns
INNER JOIN iterations AS n ON s.device_id = n.device_id
GROUP BY s.device_id
