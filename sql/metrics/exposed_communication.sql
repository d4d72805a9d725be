-- Communication of an iteration, and how much of it nothing computes beside.
--
-- reads: launched_op, op_class, op_name, op_phase, iteration_window, budget_part
-- row:   one device that communicates in its steady iterations
--
-- device_id         BIGINT   the device
-- collectives       DOUBLE   communication kernels an iteration
-- communication_ns  DOUBLE   their durations summed, an iteration
-- exposed_ns        DOUBLE   median over the iterations of the time beside which nothing computes
-- kernel_name       VARCHAR  the kernel with most of the time
WITH steady AS (
    SELECT device_id, iteration_index, count(*) OVER (PARTITION BY device_id) AS iterations
    FROM iteration_window
    WHERE is_steady
),

kernel AS (
    SELECT
        s.device_id,
        n.name,
        count(*) / any_value(s.iterations) AS collectives,
        sum(o.end_ns - o.start_ns) / any_value(s.iterations) AS communication_ns
    FROM launched_op AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    INNER JOIN op_name AS n ON o.name_id = n.name_id
    INNER JOIN op_phase AS p ON o.op_id = p.op_id
    INNER JOIN steady AS s ON p.device_id = s.device_id AND p.iteration_index = s.iteration_index
    WHERE c.op_class = 'communication'
    GROUP BY ALL
),

exposed AS (
    SELECT s.device_id, median(coalesce(b.ns, 0))::DOUBLE AS exposed_ns
    FROM steady AS s
    LEFT JOIN (SELECT * FROM budget_part WHERE part = 'communication') AS b
        ON s.device_id = b.device_id AND s.iteration_index = b.iteration_index
    GROUP BY s.device_id
)

SELECT
    k.device_id,
    sum(k.collectives) AS collectives,
    sum(k.communication_ns)::DOUBLE AS communication_ns,
    any_value(e.exposed_ns) AS exposed_ns,
    arg_max(k.name, k.communication_ns) AS kernel_name
FROM kernel AS k
INNER JOIN exposed AS e ON k.device_id = e.device_id
GROUP BY k.device_id
