-- What collectives cost a device in a steady iteration: the time in them that no computing hides, and how much of it is waiting.
--
-- reads: rank_iteration, collective, gpu_op, op_name
-- row:   one device that communicates in steady iterations
--
-- device_id         BIGINT   the device
-- collectives       BIGINT   median operations an iteration that communicate
-- communication_ns  BIGINT   median of their durations summed
-- exposed_ns        BIGINT   median time in them that no computing hides
-- wait_ns           BIGINT   median of the part of it that is waiting for other ranks, NULL where no other is in the recording
-- transfer_ns       BIGINT   median of the rest: data on its way; NULL likewise
-- kernel_name       VARCHAR  the kernel with most of the time
-- has_all_ranks     BOOLEAN  whether the recording has all ranks of the process groups, as far as it says how many they are
-- bus_bytes_per_s   DOUBLE   median bytes over the links a second once all ranks had come, NULL where sizes were not recorded
WITH steady AS (
    SELECT * FROM rank_iteration WHERE is_steady
),

counted AS (
    SELECT c.*, n.name
    FROM collective AS c
    INNER JOIN steady AS s ON c.device_id = s.device_id AND c.iteration_index = s.iteration_index
    INNER JOIN gpu_op AS o ON c.op_id = o.op_id
    INNER JOIN op_name AS n ON o.name_id = n.name_id
),

kernel AS (
    SELECT device_id, name, sum(end_ns - start_ns) AS kernel_ns
    FROM counted
    GROUP BY device_id, name
),

longest AS (
    SELECT device_id, arg_max(name, kernel_ns) AS kernel_name
    FROM kernel
    GROUP BY device_id
),

known AS (
    SELECT
        device_id,
        bool_and(seen_ranks > 1 AND seen_ranks >= group_ranks) AS has_all_ranks,
        median(bus_bytes_per_s) AS bus_bytes_per_s
    FROM counted
    GROUP BY device_id
),

typical AS (
    SELECT
        device_id,
        median(collectives)::BIGINT AS collectives,
        median(communication_ns)::BIGINT AS communication_ns,
        median(exposed_ns)::BIGINT AS exposed_ns,
        median(exposed_wait_ns)::BIGINT AS wait_ns,
        median(exposed_ns - exposed_wait_ns)::BIGINT AS transfer_ns
    FROM steady
    GROUP BY device_id
)

SELECT
    t.device_id,
    t.collectives,
    t.communication_ns,
    t.exposed_ns,
    t.wait_ns,
    t.transfer_ns,
    l.kernel_name,
    k.has_all_ranks,
    k.bus_bytes_per_s
FROM typical AS t
INNER JOIN longest AS l ON t.device_id = l.device_id
INNER JOIN known AS k ON t.device_id = k.device_id
