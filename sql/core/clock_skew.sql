-- Whether the clocks of host and GPU agree, told by what cannot be: work that starts before its launch, a wait for the
-- device that returns before the work it waited for has ended, a queue deeper than queues are.
--
-- A launch may lie seconds before its work: the queue holds what the GPU takes seconds for. But the queue holds only so
-- many launches of each stream, and who waits for the device sees it empty.
--
-- reads: op_phase, launch_clock, api_call, api_kind, stream_wait, device
-- row:   one process with an operation whose launch was recorded
--
-- process_id      BIGINT   the process
-- linked_ops      BIGINT   operations with a launch
-- early_ops       BIGINT   those that start before their launch call began, by more than clocks are matched to
-- early_ns        BIGINT   by how much, in the median: NULL where none does
-- least_delay_ns  BIGINT   the shortest time from launch to start over the whole capture, negative for early ones
-- waits           BIGINT   calls that wait for a device or a stream with work launched before: the longest ones
-- broken_waits    BIGINT   those that return before that work has ended
-- broken_ns       BIGINT   by how much, in the median: NULL where none does
-- deepest_ns      BIGINT   time that the GPU takes for the launches that its queues hold at most
-- is_skewed       BOOLEAN  the clocks disagree: nothing that compares host and GPU can be known
WITH delay AS (
    SELECT
        process_id,
        count(*) AS linked_ops,
        count(*) FILTER (start_ns < call_start_ns - getvariable('clock_tolerance_ns')) AS early_ops,
        (median(call_start_ns - start_ns) FILTER (start_ns < call_start_ns - getvariable('clock_tolerance_ns')))::BIGINT
            AS early_ns,
        min(start_ns - call_start_ns) AS least_delay_ns,
        (max(end_ns) - min(start_ns)) * count(DISTINCT stream_id) AS stream_ns
    FROM op_phase
    WHERE call_id IS NOT NULL
    GROUP BY process_id
),

launched AS (
    SELECT process_id, max(calls) AS calls FROM launch_clock GROUP BY process_id
),

only_device AS (
    SELECT process_id, min(device_id) AS device_id FROM device GROUP BY process_id HAVING count(*) = 1
),

wait AS (
    -- which device it waits for is recorded with some, and needs no record where there is only one
    SELECT
        c.process_id,
        c.call_id,
        c.start_ns,
        c.end_ns,
        coalesce(w.device_id, d.device_id) AS device_id,
        CASE WHEN contains(k.name, 'Stream') THEN w.stream_id END AS stream_id
    FROM api_call AS c
    INNER JOIN api_kind AS k ON c.name_id = k.name_id
    LEFT JOIN stream_wait AS w
        ON NOT w.is_record AND c.process_id = w.process_id AND c.correlation_id = w.correlation_id
    LEFT JOIN only_device AS d ON c.process_id = d.process_id
    WHERE
        regexp_matches(k.name, '(Device|Ctx|Stream)Synchronize')
        AND (w.stream_id IS NOT NULL OR NOT contains(k.name, 'Stream'))
    QUALIFY
        row_number() OVER (PARTITION BY c.process_id ORDER BY c.end_ns - c.start_ns DESC, c.call_id)
        <= getvariable('checked_waits')
),

held AS (
    SELECT
        w.process_id,
        w.call_id,
        max(o.end_ns) - any_value(w.end_ns) AS late_ns
    FROM wait AS w
    INNER JOIN op_phase AS o
        ON
            w.device_id = o.device_id
            AND (w.stream_id IS NULL OR w.stream_id = o.stream_id)
            AND o.call_end_ns <= w.start_ns
    GROUP BY w.process_id, w.call_id
),

waited AS (
    SELECT
        process_id,
        count(*) AS waits,
        count(*) FILTER (late_ns > getvariable('clock_tolerance_ns')) AS broken_waits,
        (median(late_ns) FILTER (late_ns > getvariable('clock_tolerance_ns')))::BIGINT AS broken_ns
    FROM held
    GROUP BY process_id
),

told AS (
    SELECT
        d.*,
        coalesce(w.waits, 0) AS waits,
        coalesce(w.broken_waits, 0) AS broken_waits,
        w.broken_ns,
        (getvariable('queue_depth') * d.stream_ns / greatest(l.calls, 1))::BIGINT AS deepest_ns
    FROM delay AS d
    LEFT JOIN waited AS w ON d.process_id = w.process_id
    LEFT JOIN launched AS l ON d.process_id = l.process_id
)

SELECT
    process_id,
    linked_ops,
    early_ops,
    early_ns,
    least_delay_ns,
    waits,
    broken_waits,
    broken_ns,
    deepest_ns,
    early_ops >= getvariable('clock_skew_share') * linked_ops AND early_ops > 0
    -- one wait may have been in vain, as in a stream that is being captured: most of them were not
    OR 2 * broken_waits > waits
    OR least_delay_ns > greatest(getvariable('longest_backlog_ns'), 10 * deepest_ns) AS is_skewed
FROM told
