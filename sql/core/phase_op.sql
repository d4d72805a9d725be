-- Operations with the instance of a phase that they belong to. In a CUDA graph each launch of the graph is an instance anew.
--
-- reads: op_phase, launched_op, lost_launch
-- row:   one operation that belongs to a phase
--
-- op_id            BIGINT   the operation
-- process_id       BIGINT   its process
-- device_id        BIGINT   its device
-- phase            VARCHAR  role, or name where the role is unknown
-- range_id         BIGINT   the range that marks the phase, NULL for labels
-- replay_call_id   BIGINT   the launch of the graph, negative where it was not recorded, NULL outside graphs
-- iteration_index  BIGINT   the iteration, NULL where in none
-- method           VARCHAR  how the phase was told
-- kind             VARCHAR  kernel, memcpy, memset or graph
-- start_ns         BIGINT   start
-- end_ns           BIGINT   end
-- added_ns         BIGINT   busy time that it adds to its instance's union
SELECT
    p.op_id,
    p.process_id,
    p.device_id,
    p.phase,
    p.range_id,
    CASE WHEN p.method IN ('graph', 'annotation') THEN coalesce(o.call_id, l.lost_call_id) END AS replay_call_id,
    p.iteration_index,
    p.method,
    o.kind,
    o.start_ns,
    o.end_ns,
    greatest(o.end_ns - greatest(o.start_ns, coalesce(max(o.end_ns) OVER earlier, o.start_ns)), 0) AS added_ns
FROM op_phase AS p
INNER JOIN launched_op AS o ON p.op_id = o.op_id
LEFT JOIN lost_launch AS l ON p.op_id = l.op_id
WHERE p.phase IS NOT NULL
WINDOW earlier AS (
    PARTITION BY p.device_id, p.phase, p.range_id, replay_call_id
    ORDER BY o.start_ns, o.end_ns, o.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
)
