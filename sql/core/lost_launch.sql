-- Operations whose launch was not recorded: which were launched together, and about when.
--
-- A stream runs its work in the order of the launches, so the launch lay between those of the work before and behind it;
-- where between, the GPU tells. Nothing compares the clocks of host and GPU.
--
-- reads: launched_op, gpu_op
-- row:   one operation without a launch
--
-- op_id         BIGINT  the operation
-- lost_call_id  BIGINT  stands for the launch: negative, and the same for all that one launch started
-- launched_ns   BIGINT  about when the launching call began; the operation's own start where its stream has no launches
WITH lost AS (
    SELECT
        o.op_id,
        o.device_id,
        o.stream_id,
        o.start_ns,
        -- what shares a correlation id was launched as one, a CUDA graph
        -min(o.op_id) OVER launch AS lost_call_id,
        min(o.start_ns) OVER launch AS first_ns
    FROM launched_op AS o
    INNER JOIN gpu_op AS g ON o.op_id = g.op_id
    WHERE o.call_id IS NULL
    WINDOW launch AS (PARTITION BY o.process_id, coalesce(g.correlation_id, -o.op_id))
),

known AS (
    SELECT device_id, stream_id, call_start_ns, min(start_ns) AS start_ns
    FROM launched_op
    WHERE
        call_id IS NOT NULL
        AND (device_id, stream_id) IN (SELECT (device_id, stream_id) FROM lost)
    GROUP BY ALL
),

pace AS (
    -- host time that passed for each nanosecond on the GPU, over all launches of the stream
    SELECT
        device_id,
        stream_id,
        CASE
            WHEN max(start_ns) > min(start_ns)
                THEN (max(call_start_ns) - min(call_start_ns))::DOUBLE / (max(start_ns) - min(start_ns))
            ELSE 1.0
        END AS host_per_gpu
    FROM known
    GROUP BY ALL
)

SELECT
    l.op_id,
    l.lost_call_id,
    CASE
        WHEN b.start_ns IS NOT NULL AND a.start_ns IS NOT NULL
            THEN
                b.call_start_ns
                + (
                    greatest(a.call_start_ns - b.call_start_ns, 0)::DOUBLE
                    * (l.first_ns - b.start_ns) / greatest(a.start_ns - b.start_ns, 1)
                )::BIGINT
        WHEN b.start_ns IS NOT NULL THEN b.call_start_ns + ((l.first_ns - b.start_ns) * p.host_per_gpu)::BIGINT
        WHEN a.start_ns IS NOT NULL THEN a.call_start_ns - ((a.start_ns - l.first_ns) * p.host_per_gpu)::BIGINT
        ELSE l.first_ns
    END AS launched_ns
FROM lost AS l
LEFT JOIN pace AS p ON l.device_id = p.device_id AND l.stream_id = p.stream_id
ASOF LEFT JOIN known AS b ON l.device_id = b.device_id AND l.stream_id = b.stream_id AND l.first_ns >= b.start_ns
ASOF LEFT JOIN known AS a ON l.device_id = a.device_id AND l.stream_id = a.stream_id AND l.first_ns < a.start_ns
