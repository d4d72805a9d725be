-- Copies of one size and direction, and how many of them an iteration makes.
--
-- reads: op_phase, phase_range, iteration_window, gpu_op
-- row:   one size and direction on one device, over its steady iterations
--
-- device_id   BIGINT   the device
-- direction   VARCHAR  HtoD, DtoH, DtoD, PtoP, HtoH or other
-- bytes       BIGINT   bytes of each copy
-- copies      DOUBLE   copies in the median iteration
-- copy_ns     DOUBLE   time in them, in the mean iteration
-- range_name  VARCHAR  the phase that most of them are made in, as the program marks it
WITH counted AS (
    SELECT
        o.device_id,
        o.iteration_index,
        g.copy_kind::VARCHAR AS direction,
        g.bytes,
        count(*) AS copies,
        sum(o.end_ns - o.start_ns) AS copy_ns,
        mode(coalesce(r.name, o.phase)) AS range_name
    FROM op_phase AS o
    INNER JOIN gpu_op AS g ON o.op_id = g.op_id
    LEFT JOIN phase_range AS r ON o.range_id = r.range_id
    WHERE o.kind = 'memcpy' AND g.bytes IS NOT NULL AND o.iteration_index IS NOT NULL
    GROUP BY ALL
),

grid AS (
    SELECT w.device_id, w.iteration_index, c.direction, c.bytes
    FROM iteration_window AS w
    INNER JOIN (SELECT DISTINCT device_id, direction, bytes FROM counted) AS c ON w.device_id = c.device_id
    WHERE w.is_steady
)

SELECT
    g.device_id,
    g.direction,
    g.bytes,
    median(coalesce(c.copies, 0))::DOUBLE AS copies,
    avg(coalesce(c.copy_ns, 0)) AS copy_ns,
    mode(c.range_name) AS range_name
FROM grid AS g
LEFT JOIN counted AS c
    ON
        g.device_id = c.device_id
        AND g.iteration_index = c.iteration_index
        AND g.direction = c.direction
        AND g.bytes = c.bytes
GROUP BY g.device_id, g.direction, g.bytes
