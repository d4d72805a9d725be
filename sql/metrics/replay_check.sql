-- How well the replay reproduces each device's iterations with nothing taken away.
--
-- reads: replayed
-- row:   one device
-- store: view
--
-- device_id           BIGINT  the device
-- measured_period_ns  BIGINT  median period of the iterations replayed
-- replayed_period_ns  BIGINT  median period of the replay, on the recording's median latencies
-- error_share         DOUBLE  how far the replay is off, for the median or the total, the larger
-- first_iteration     BIGINT  the first iteration replayed
-- last_iteration      BIGINT  the last
SELECT device_id, measured_period_ns, replayed_period_ns, error_share, first_iteration, last_iteration
FROM replayed
WHERE scenario IS NULL
