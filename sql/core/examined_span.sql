-- The stretches of a device's time whose idle time is looked at, and the host's time in which their work was launched.
-- Where everything is looked at, both are without end.
--
-- reads: examined_stretch, examined_member, op_phase
-- row:   one stretch of one device
--
-- device_id      BIGINT  the device
-- process_id     BIGINT  its process
-- start_ns       BIGINT  start on the device
-- end_ns         BIGINT  end on the device
-- host_start_ns  BIGINT  first launch of its work
-- host_end_ns    BIGINT  return of the last one
WITH host AS (
    SELECT
        m.device_id,
        m.stretch_start_ns,
        min(o.call_start_ns) AS start_ns,
        max(o.call_end_ns) AS end_ns
    FROM examined_member AS m
    INNER JOIN op_phase AS o ON m.op_id = o.op_id
    GROUP BY ALL
)

SELECT
    s.device_id,
    s.process_id,
    s.start_ns,
    s.end_ns,
    CASE WHEN s.is_whole THEN s.start_ns ELSE coalesce(h.start_ns, s.start_ns) END AS host_start_ns,
    CASE WHEN s.is_whole THEN s.end_ns ELSE coalesce(h.end_ns, s.end_ns) END AS host_end_ns
FROM examined_stretch AS s
LEFT JOIN host AS h ON s.device_id = h.device_id AND s.start_ns = h.stretch_start_ns
