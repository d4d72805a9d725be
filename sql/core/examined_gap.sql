-- Idle gaps that are looked at.
--
-- reads: idle_gap, examined_span
-- row:   one gap
--
-- gap_id      BIGINT  the gap
-- device_id   BIGINT  the device
-- start_ns    BIGINT  when the last operation before it ended
-- end_ns      BIGINT  when the next one started
-- next_op_id  BIGINT  the operation that ends it
SELECT g.gap_id, g.device_id, g.start_ns, g.end_ns, g.next_op_id
FROM idle_gap AS g
ASOF INNER JOIN examined_span AS s ON g.device_id = s.device_id AND g.start_ns >= s.start_ns
WHERE g.end_ns <= s.end_ns
