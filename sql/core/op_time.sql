-- When operations ran, and where.
--
-- reads: gpu_op
-- row:   one operation
-- store: view
--
-- op_id      BIGINT  the operation
-- device_id  BIGINT  its device
-- start_ns   BIGINT  start
-- end_ns     BIGINT  end
SELECT op_id, device_id, start_ns, end_ns
FROM gpu_op
