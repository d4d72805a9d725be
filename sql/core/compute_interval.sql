-- Stretches in which a device computed: the union of its kernels and memsets that don't communicate.
--
-- reads: gpu_op, op_class
-- row:   one stretch
--
-- device_id  BIGINT  the device
-- start_ns   BIGINT  start
-- end_ns     BIGINT  end
-- before_ns  BIGINT  computing time of the device before this stretch
WITH ordered AS (
    SELECT
        o.device_id,
        o.op_id,
        o.start_ns,
        o.end_ns,
        -- running max, so that overlapping streams count once
        max(o.end_ns) OVER (
            PARTITION BY o.device_id
            ORDER BY o.start_ns, o.end_ns, o.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS busy_until_ns
    FROM gpu_op AS o
    INNER JOIN op_class AS c ON o.name_id = c.name_id AND c.op_class = 'compute'
),

numbered AS (
    SELECT
        *,
        sum(CASE WHEN busy_until_ns IS NULL OR start_ns > busy_until_ns THEN 1 ELSE 0 END) OVER (
            PARTITION BY device_id ORDER BY start_ns, end_ns, op_id ROWS UNBOUNDED PRECEDING
        ) AS stretch
    FROM ordered
),

stretches AS (
    SELECT device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM numbered
    GROUP BY device_id, stretch
)

SELECT
    device_id,
    start_ns,
    end_ns,
    coalesce(sum(end_ns - start_ns) OVER (
        PARTITION BY device_id ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0)::BIGINT AS before_ns
FROM stretches
