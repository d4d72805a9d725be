-- Devices that ran at least one operation: a CUDA ordinal of a process.
--
-- reads: gpu_op, process, device_info
-- row:   one device
--
-- device_id     BIGINT   the device, unique over all files of the run
-- process_id    BIGINT   its process
-- source_id     BIGINT   its file
-- device_index  BIGINT   its number in reports, from 0
-- ordinal       BIGINT   CUDA ordinal within its process
-- name          VARCHAR  such as NVIDIA H200, NULL where not recorded
-- uuid          VARCHAR  identifies the physical GPU, NULL where not recorded
-- sm_count      BIGINT   streaming multiprocessors, NULL where not recorded
-- rank          BIGINT   rank of its process
WITH used AS (
    SELECT DISTINCT device_id, process_id FROM gpu_op
),

named AS (
    SELECT
        used.device_id,
        -- an ordinal of the process itself tells more than one of the whole machine
        arg_max(i.name, i.process_pid IS NOT NULL) AS name,
        arg_max(i.uuid, i.process_pid IS NOT NULL) AS uuid,
        arg_max(i.sm_count, i.process_pid IS NOT NULL) AS sm_count
    FROM used
    INNER JOIN process AS p ON used.process_id = p.process_id
    INNER JOIN device_info AS i
        ON p.source_id = i.source_id AND (used.device_id & 255) = i.ordinal AND coalesce(i.process_pid, p.pid) = p.pid
    GROUP BY used.device_id
)

SELECT
    used.device_id,
    used.process_id,
    p.source_id,
    row_number() OVER (ORDER BY used.device_id) - 1 AS device_index,
    used.device_id & 255 AS ordinal,
    n.name,
    n.uuid,
    n.sm_count,
    p.rank
FROM used
INNER JOIN process AS p ON used.process_id = p.process_id
LEFT JOIN named AS n ON used.device_id = n.device_id
