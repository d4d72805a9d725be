-- Operations in the stretches whose idle time is looked at, with the one that ends the last gap.
--
-- reads: gpu_op, examined_stretch
-- row:   one operation
--
-- op_id             BIGINT  the operation
-- device_id         BIGINT  its device
-- stretch_start_ns  BIGINT  start of the stretch, which names it together with the device
SELECT o.op_id, o.device_id, s.start_ns AS stretch_start_ns
FROM gpu_op AS o
INNER JOIN examined_stretch AS s ON o.device_id = s.device_id AND o.start_ns BETWEEN s.start_ns AND s.end_ns
