-- Ranges projected onto the GPU: the operations of all calls made inside a range on its thread. A call that begins before
-- the range or returns after it is not inside; a range's borders are. Enclosing ranges own what enclosed ones do.
-- Ranges closed on another thread have no projection, nor do ranges without operations.
--
-- This is NVIDIA's definition (nvtx_gpu_proj_trace). No join by containment: what a range owns is a stretch of its
-- thread's launches, so a window frame of the range's length adds it up.
--
-- reads: launched_op, host_range
-- row:   one range that owns operations
--
-- range_id  BIGINT  the range
-- start_ns  BIGINT  start of its first operation
-- end_ns    BIGINT  end of its last one
-- span_ns   BIGINT  from the one to the other
-- ops       BIGINT  operations
-- launches  BIGINT  calls that launched them: what NVIDIA calls NumGPUOps
WITH launch AS (
    SELECT
        thread_id,
        call_id,
        call_start_ns,
        call_end_ns,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        count(*) AS ops
    FROM launched_op
    WHERE call_id IS NOT NULL
    GROUP BY ALL
),

layered AS (
    -- a launching call inside another (driver in runtime) is counted apart, so that in each layer starts and ends have one order
    SELECT
        *,
        coalesce(max(call_end_ns) OVER (
            PARTITION BY thread_id ORDER BY call_start_ns, call_end_ns DESC, call_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) > call_end_ns, false) AS is_nested
    FROM launch
),

returned AS (
    SELECT thread_id, is_nested, call_end_ns, max(call_start_ns) AS call_start_ns
    FROM layered
    GROUP BY ALL
),

layer AS (
    SELECT DISTINCT thread_id, is_nested FROM returned
),

owner AS (
    SELECT r.range_id, r.thread_id, layer.is_nested, r.start_ns, last_inside.call_start_ns AS last_ns
    FROM host_range AS r
    INNER JOIN layer ON r.thread_id = layer.thread_id
    ASOF INNER JOIN returned AS last_inside
        ON
            r.thread_id = last_inside.thread_id
            AND layer.is_nested = last_inside.is_nested
            AND r.end_ns >= last_inside.call_end_ns
    WHERE r.thread_id = r.end_thread_id
),

moment AS (
    SELECT
        thread_id,
        is_nested,
        call_start_ns AS at_ns,
        NULL AS range_id,
        0 AS length_ns,
        start_ns,
        end_ns,
        ops,
        1 AS launches
    FROM layered
    UNION ALL
    SELECT thread_id, is_nested, start_ns, range_id, last_ns - start_ns, NULL, NULL, 0, 0
    FROM owner
    WHERE last_ns >= start_ns
),

summed AS (
    SELECT
        range_id,
        min(start_ns) OVER inside AS start_ns,
        max(end_ns) OVER inside AS end_ns,
        sum(ops) OVER inside AS ops,
        sum(launches) OVER inside AS launches
    FROM moment
    WINDOW inside AS (
        PARTITION BY thread_id, is_nested ORDER BY at_ns RANGE BETWEEN CURRENT ROW AND length_ns FOLLOWING
    )
)

SELECT
    range_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    max(end_ns) - min(start_ns) AS span_ns,
    sum(ops)::BIGINT AS ops,
    sum(launches)::BIGINT AS launches
FROM summed
WHERE range_id IS NOT NULL
GROUP BY range_id
HAVING sum(launches) > 0
