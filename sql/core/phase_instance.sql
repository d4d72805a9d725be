-- Each time that a phase ran on a device. A range whose operations were launched by autograd's thread counts with them.
--
-- reads: phase_range, iteration_window, op_phase, crowded_op
-- row:   one instance of a phase on one device
--
-- phase            VARCHAR  role, or name where the role is unknown
-- name             VARCHAR  as the program marked it, NULL for labels
-- process_id       BIGINT   the process
-- device_id        BIGINT   the device
-- iteration_index  BIGINT   the iteration, NULL where in none
-- range_id         BIGINT   the range that marks it, NULL for labels
-- start_ns         BIGINT   start of its first operation
-- end_ns           BIGINT   end of its last one
-- span_ns          BIGINT   from the one to the other
-- busy_ns          BIGINT   union of its operations
-- cpu_ns           BIGINT   length of the range on the host, NULL for labels and inside CUDA graphs
-- ops              BIGINT   operations
-- kernels          BIGINT   kernels among them
-- kernel_ns        BIGINT   sum of the kernels' durations
-- method           VARCHAR  how most of its operations were told
-- is_steady        BOOLEAN  in a steady iteration and not cut off by the end of the capture
WITH op AS (
    SELECT
        *,
        -- a label has no range: each iteration is an instance
        CASE WHEN range_id IS NULL AND replay_call_id IS NULL THEN iteration_index END AS labelled_iteration
    FROM op_phase
    WHERE phase IS NOT NULL
),

told AS (
    SELECT
        phase,
        process_id,
        device_id,
        range_id,
        replay_call_id,
        labelled_iteration,
        method,
        min(iteration_index) AS iteration_index,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        sum(end_ns - start_ns) AS op_ns,
        count(*) AS ops,
        count(*) FILTER (WHERE kind = 'kernel') AS kernels,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE kind = 'kernel'), 0) AS kernel_ns
    FROM op
    GROUP BY ALL
),

crowded AS (
    SELECT
        o.phase,
        o.device_id,
        o.range_id,
        o.replay_call_id,
        o.labelled_iteration,
        -- how much of it runs beside an earlier one of its instance
        least(o.end_ns, coalesce(max(o.end_ns) OVER (
            PARTITION BY o.device_id, o.phase, o.range_id, o.replay_call_id
            ORDER BY o.start_ns, o.end_ns, o.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), o.start_ns)) - o.start_ns AS twice_ns
    FROM op AS o
    INNER JOIN crowded_op AS c ON o.op_id = c.op_id
),

counted_twice AS (
    SELECT phase, device_id, range_id, replay_call_id, labelled_iteration, sum(twice_ns) AS ns
    FROM crowded
    WHERE twice_ns > 0
    GROUP BY ALL
),

instance AS (
    SELECT
        phase,
        process_id,
        device_id,
        range_id,
        replay_call_id,
        labelled_iteration,
        min(iteration_index) AS iteration_index,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        sum(op_ns) AS op_ns,
        sum(ops)::BIGINT AS ops,
        sum(kernels)::BIGINT AS kernels,
        sum(kernel_ns)::BIGINT AS kernel_ns,
        arg_max(method, ops)::VARCHAR AS method
    FROM told
    GROUP BY ALL
)

SELECT
    i.phase,
    r.name,
    i.process_id,
    i.device_id,
    i.iteration_index,
    i.range_id,
    i.start_ns,
    i.end_ns,
    i.end_ns - i.start_ns AS span_ns,
    (i.op_ns - coalesce(c.ns, 0))::BIGINT AS busy_ns,
    CASE WHEN i.replay_call_id IS NULL THEN r.end_ns - r.start_ns END AS cpu_ns,
    i.ops,
    i.kernels,
    i.kernel_ns,
    i.method,
    -- a graph's replay ends with its work, whether or not the range that it was captured in was closed
    coalesce(w.is_steady, false) AND NOT coalesce(r.is_open AND i.replay_call_id IS NULL, false) AS is_steady
FROM instance AS i
LEFT JOIN counted_twice AS c
    ON
        i.device_id = c.device_id
        AND i.phase = c.phase
        AND i.range_id IS NOT DISTINCT FROM c.range_id
        AND i.replay_call_id IS NOT DISTINCT FROM c.replay_call_id
        AND i.labelled_iteration IS NOT DISTINCT FROM c.labelled_iteration
LEFT JOIN phase_range AS r ON i.range_id = r.range_id
LEFT JOIN iteration_window AS w ON i.device_id = w.device_id AND i.iteration_index = w.iteration_index
