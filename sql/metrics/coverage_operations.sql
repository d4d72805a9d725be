-- What is known of a device's operations: their launches and their phases.
--
-- reads: op_phase, device
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
WITH linked AS (
    SELECT device_id, min(start_ns) AS start_ns FROM op_phase WHERE call_id IS NOT NULL GROUP BY device_id
)

SELECT
    o.device_id,
    any_value(d.device_index) AS device_index,
    count(*) AS operations,
    sum(o.end_ns - o.start_ns)::BIGINT AS operation_ns,
    count(*) FILTER (o.call_id IS NULL) AS unlinked,
    count(*) FILTER (o.call_id IS NULL AND o.start_ns < l.start_ns) AS unlinked_before,
    coalesce(sum(o.end_ns - o.start_ns) FILTER (o.iteration_index IS NOT NULL), 0)::BIGINT AS iteration_ns,
    count(*) FILTER (o.iteration_index IS NOT NULL AND o.method = 'none') AS unattributed,
    coalesce(
        sum(o.end_ns - o.start_ns) FILTER (o.iteration_index IS NOT NULL AND o.method = 'none'), 0
    )::BIGINT AS unattributed_ns,
    count(*) FILTER (o.kind = 'graph') AS graphs,
    coalesce(sum(o.end_ns - o.start_ns) FILTER (o.kind = 'graph'), 0)::BIGINT AS graph_ns
FROM op_phase AS o
INNER JOIN device AS d ON o.device_id = d.device_id
LEFT JOIN linked AS l ON o.device_id = l.device_id
GROUP BY o.device_id
