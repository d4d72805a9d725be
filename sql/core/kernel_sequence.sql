-- Kernels of each device in the order of their launch, for telling iterations where no ranges do.
--
-- reads: launched_op, lost_launch, op_name, gpu_op
-- row:   one kernel
--
-- process_id     BIGINT  its process
-- device_id      BIGINT  its device
-- position       BIGINT  place in the order, from 0
-- word           BIGINT  equal for kernels of the same name and size of grid
-- start_ns       BIGINT  start on the GPU
-- end_ns         BIGINT  end on the GPU
-- call_start_ns  BIGINT  start of its launch, estimated where none was recorded
SELECT
    o.process_id,
    o.device_id,
    row_number() OVER (PARTITION BY o.device_id ORDER BY coalesce(o.call_start_ns, l.launched_ns), o.start_ns)
    - 1 AS position,
    (hash(n.name, g.grid, g.block) >> 1)::BIGINT AS word,
    o.start_ns,
    o.end_ns,
    coalesce(o.call_start_ns, l.launched_ns) AS call_start_ns
FROM launched_op AS o
INNER JOIN gpu_op AS g ON o.op_id = g.op_id
LEFT JOIN lost_launch AS l ON o.op_id = l.op_id
INNER JOIN op_name AS n ON o.name_id = n.name_id
WHERE o.kind = 'kernel'
