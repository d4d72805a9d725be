-- When operations ran, where, and for what.
--
-- reads: op_phase, op_class
-- row:   one operation
-- store: view
--
-- op_id             BIGINT   the operation
-- device_id         BIGINT   its device
-- start_ns          BIGINT   start
-- end_ns            BIGINT   end
-- is_compute        TINYINT  1 where it computes
-- is_communication  TINYINT  1 where it communicates
-- phase             VARCHAR  its phase, NULL where it belongs to none
SELECT
    o.op_id,
    o.device_id,
    o.start_ns,
    o.end_ns,
    (c.op_class = 'compute')::TINYINT AS is_compute,
    (c.op_class = 'communication')::TINYINT AS is_communication,
    o.phase
FROM op_phase AS o
INNER JOIN op_class AS c ON o.name_id = c.name_id
