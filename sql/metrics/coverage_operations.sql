-- What is known of a device's operations: their launches and their phases.
--
-- reads: launched_op, op_phase, device
-- row:   one device
--
-- device_id        BIGINT  the device
-- device_index     BIGINT  its number in reports
-- operations       BIGINT  operations
-- operation_ns     BIGINT  their durations summed
-- unlinked         BIGINT  those without a recorded launch
-- unlinked_before  BIGINT  those of them that start before the first operation with a launch
-- iteration_ns     BIGINT  durations of the operations that were launched in an iteration
-- unattributed     BIGINT  those of them that belong to no phase
-- unattributed_ns  BIGINT  the durations of these
-- graphs           BIGINT  CUDA graph launches that are one operation
-- graph_ns         BIGINT  the durations of these
WITH op AS (
    SELECT
        o.*,
        p.iteration_index,
        p.method,
        o.end_ns - o.start_ns AS op_ns,
        min(o.start_ns) FILTER (o.call_id IS NOT NULL) OVER (PARTITION BY o.device_id) AS first_linked_ns
    FROM launched_op AS o
    LEFT JOIN op_phase AS p ON o.op_id = p.op_id
)

SELECT
    o.device_id,
    any_value(d.device_index) AS device_index,
    count(*) AS operations,
    sum(op_ns)::BIGINT AS operation_ns,
    count(*) FILTER (call_id IS NULL) AS unlinked,
    count(*) FILTER (call_id IS NULL AND start_ns < first_linked_ns) AS unlinked_before,
    coalesce(sum(op_ns) FILTER (iteration_index IS NOT NULL), 0)::BIGINT AS iteration_ns,
    count(*) FILTER (iteration_index IS NOT NULL AND method = 'none') AS unattributed,
    coalesce(sum(op_ns) FILTER (iteration_index IS NOT NULL AND method = 'none'), 0)::BIGINT AS unattributed_ns,
    count(*) FILTER (kind = 'graph') AS graphs,
    coalesce(sum(op_ns) FILTER (kind = 'graph'), 0)::BIGINT AS graph_ns
FROM op AS o
INNER JOIN device AS d ON o.device_id = d.device_id
GROUP BY o.device_id
