-- Operations that communicate, with what is known of the collective that each is a part of.
--
-- reads: gpu_op, op_class, collective_kind, collective_op
-- row:   one operation that communicates
--
-- op_id            BIGINT   the operation
-- source_id        BIGINT   its file
-- process_id       BIGINT   its process
-- device_id        BIGINT   its device
-- stream_id        BIGINT   CUDA stream
-- collective       VARCHAR  all_reduce, all_gather, reduce_scatter … or unknown
-- communicator     VARCHAR  process group, NULL where not recorded
-- group_size       BIGINT   ranks in it, NULL where not recorded
-- sequence_number  BIGINT   its number within the process group, NULL where not recorded
-- message_bytes    BIGINT   bytes of the input, NULL where not recorded
-- blocks           BIGINT   blocks of the kernel: as many multiprocessors as it holds while it waits, NULL where not recorded
-- start_ns         BIGINT   start on the trace clock
-- end_ns           BIGINT   end on the trace clock
SELECT
    o.op_id,
    o.process_id >> 24 AS source_id,
    o.process_id,
    o.device_id,
    o.stream_id,
    coalesce(nullif(d.collective, 'unknown'), k.collective, 'unknown') AS collective,
    nullif(d.communicator, '') AS communicator,
    nullif(d.group_size, 0) AS group_size,
    d.sequence_number,
    d.message_bytes,
    o.grid AS blocks,
    o.start_ns,
    o.end_ns
FROM gpu_op AS o
INNER JOIN op_class AS c ON o.name_id = c.name_id AND c.op_class = 'communication'
LEFT JOIN collective_kind AS k ON o.name_id = k.name_id
LEFT JOIN collective_op AS d ON o.op_id = d.op_id
WHERE o.kind = 'kernel'
