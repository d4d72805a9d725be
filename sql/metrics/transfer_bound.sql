-- Memory copies of an iteration by direction, and how much of their time nothing computes or communicates beside them.
--
-- reads: op_class, op_phase, phase_range, iteration_window, gpu_op
-- row:   one direction on one device, over its steady iterations
--
-- device_id       BIGINT   the device
-- direction       VARCHAR  HtoD, DtoH, DtoD, PtoP, HtoH or other
-- copies          DOUBLE   copies an iteration
-- bytes           DOUBLE   bytes an iteration
-- copy_ns         DOUBLE   time in copies an iteration
-- exposed_ns      DOUBLE   median over the iterations of the copy time beside which nothing else runs
-- pageable_bytes  DOUBLE   bytes from or to pageable host memory, an iteration
-- blocked_ns      DOUBLE   time of the copies during which their own call had not returned, an iteration
-- range_name      VARCHAR  the phase that copies most of the bytes, as the program marks it
WITH covering AS (
    SELECT
        o.device_id,
        o.start_ns,
        o.end_ns,
        max(o.end_ns) OVER (
            PARTITION BY o.device_id ORDER BY o.start_ns, o.end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered_to_ns
    FROM gpu_op AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id
    -- most devices of most runs copy nothing, and need none of this
    INNER JOIN (SELECT DISTINCT device_id FROM gpu_op WHERE kind = 'memcpy') AS d ON o.device_id = d.device_id
    WHERE c.op_class <> 'copy'
),

-- time covered up to to_ns, without a gap from start_ns on: what was covered before a moment in between follows
covered AS (
    SELECT
        device_id,
        start_ns,
        greatest(end_ns, coalesce(covered_to_ns, end_ns)) AS to_ns,
        sum(greatest(end_ns - greatest(start_ns, coalesce(covered_to_ns, start_ns)), 0)) OVER (
            PARTITION BY device_id ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS total_ns,
        row_number() OVER (PARTITION BY device_id, start_ns ORDER BY end_ns DESC) AS place
    FROM covering
),

copies AS (
    SELECT
        o.*,
        g.copy_kind::VARCHAR AS copy_kind,
        g.bytes,
        g.is_pageable,
        coalesce(r.name, o.phase) AS range_name,
        -- running max, so that copies beside one another count once
        greatest(o.start_ns, coalesce(max(o.end_ns) OVER (
            PARTITION BY o.device_id ORDER BY o.start_ns, o.end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), o.start_ns)) AS alone_from_ns
    FROM op_phase AS o
    INNER JOIN gpu_op AS g ON o.op_id = g.op_id
    LEFT JOIN phase_range AS r ON o.range_id = r.range_id
    WHERE o.kind = 'memcpy'
),

moment AS (
    SELECT op_id, device_id, least(alone_from_ns, end_ns) AS at_ns, -1 AS sign FROM copies
    UNION ALL
    SELECT op_id, device_id, end_ns, 1 FROM copies
),

beside AS (
    SELECT
        m.op_id,
        sum(m.sign * coalesce(c.total_ns - greatest(c.to_ns - m.at_ns, 0), 0)) AS ns
    FROM moment AS m
    ASOF LEFT JOIN (SELECT * FROM covered WHERE place = 1) AS c ON m.device_id = c.device_id AND m.at_ns >= c.start_ns
    GROUP BY m.op_id
),

by_iteration AS (
    SELECT
        c.device_id,
        c.iteration_index,
        c.copy_kind AS direction,
        count(*) AS copies,
        sum(coalesce(c.bytes, 0)) AS bytes,
        sum(c.end_ns - c.start_ns) AS copy_ns,
        sum(greatest(c.end_ns - least(c.alone_from_ns, c.end_ns) - b.ns, 0)) AS exposed_ns,
        sum(CASE WHEN c.is_pageable THEN coalesce(c.bytes, 0) ELSE 0 END) AS pageable_bytes,
        sum(greatest(least(c.end_ns, c.call_end_ns) - greatest(c.start_ns, c.call_start_ns), 0)) AS blocked_ns,
        arg_max(c.range_name, c.bytes) AS range_name
    FROM copies AS c
    INNER JOIN beside AS b ON c.op_id = b.op_id
    GROUP BY ALL
),

grid AS (
    SELECT w.device_id, w.iteration_index, d.direction
    FROM iteration_window AS w
    INNER JOIN (SELECT DISTINCT device_id, direction FROM by_iteration) AS d ON w.device_id = d.device_id
    WHERE w.is_steady
)

SELECT
    g.device_id,
    g.direction,
    avg(coalesce(i.copies, 0)) AS copies,
    avg(coalesce(i.bytes, 0)) AS bytes,
    avg(coalesce(i.copy_ns, 0)) AS copy_ns,
    median(coalesce(i.exposed_ns, 0))::DOUBLE AS exposed_ns,
    avg(coalesce(i.pageable_bytes, 0)) AS pageable_bytes,
    avg(coalesce(i.blocked_ns, 0)) AS blocked_ns,
    arg_max(i.range_name, i.bytes) AS range_name
FROM grid AS g
LEFT JOIN by_iteration AS i
    ON g.device_id = i.device_id AND g.iteration_index = i.iteration_index AND g.direction = i.direction
GROUP BY g.device_id, g.direction
