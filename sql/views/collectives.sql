-- Collectives, rank by rank: who came when, who waited, and what no computing hides.
--
-- reads: collective
-- row:   one operation of one device that is a part of a collective
-- store: view
--
-- device_index     BIGINT   the device
-- rank             BIGINT   rank of its process, NULL where not known
-- iteration_index  BIGINT   the iteration in which it was launched, NULL where in none
-- instance_id      BIGINT   the collective that it is a part of: the same on all its ranks
-- collective       VARCHAR  all_reduce, all_gather, reduce_scatter … or unknown
-- communicator     VARCHAR  process group, NULL where not recorded
-- sequence         BIGINT   number of the collective among those of its kind in the group
-- start_ms         DOUBLE   start, on the clock of the first file
-- end_ms           DOUBLE   end, on the clock of the first file
-- wait_ms          DOUBLE   from its start until the last rank came, NULL where no other is in the recording
-- exposed_ms       DOUBLE   time in it that no computing hides
-- exposed_wait_ms  DOUBLE   part of that which is waiting, NULL where no other is in the recording
-- is_last          BOOLEAN  whether it came last, NULL where no other is in the recording
-- seen_ranks       BIGINT   ranks of the recording in this collective
-- group_ranks      BIGINT   ranks in its group, as far as is known
-- message_mb       DOUBLE   megabytes of the input, NULL where not recorded
-- bus_gb_per_s     DOUBLE   gigabytes over the links a second once all had come, NULL where sizes were not recorded
-- stream_id        BIGINT   CUDA stream
-- op_id            BIGINT   the operation
SELECT
    c.device_index::BIGINT AS device_index,
    c.rank,
    c.iteration_index,
    c.instance_id,
    c.collective,
    c.communicator,
    c.sequence,
    c.aligned_start_ns / 1e6 AS start_ms,
    c.aligned_end_ns / 1e6 AS end_ms,
    c.wait_ns / 1e6 AS wait_ms,
    c.exposed_ns / 1e6 AS exposed_ms,
    c.exposed_wait_ns / 1e6 AS exposed_wait_ms,
    c.device_id = c.last_device_id AS is_last,
    c.seen_ranks,
    c.group_ranks,
    c.message_bytes / 1e6 AS message_mb,
    c.bus_bytes_per_s / 1e9 AS bus_gb_per_s,
    c.stream_id,
    c.op_id
FROM collective AS c
ORDER BY c.aligned_start_ns, c.device_index
