-- Idle gaps that are looked at.
--
-- reads: idle_gap, examined_member
-- row:   one gap
--
-- gap_id      BIGINT  the gap
-- device_id   BIGINT  the device
-- start_ns    BIGINT  when the last operation before it ended
-- end_ns      BIGINT  when the next one started
-- next_op_id  BIGINT  the operation that ends it
SELECT g.gap_id, g.device_id, g.start_ns, g.end_ns, g.next_op_id
FROM idle_gap AS g
INNER JOIN examined_member AS m ON g.next_op_id = m.op_id
-- not the one that ends with the first operation of a stretch
WHERE g.start_ns >= m.stretch_start_ns
