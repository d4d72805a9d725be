-- What each finding's cure is worth: the period of a replay less that of one without the finding's cause.
--
-- reads: replayed
-- row:   one finding on one device
-- store: view
--
-- device_id        BIGINT   the device
-- scenario         VARCHAR  the finding that is priced
-- recoverable_ns   BIGINT   what its cure saves of the median iteration; never more than the idle time and the exposed work that it is blamed for, nor than the period
-- is_upper_bound   BOOLEAN  the replay misses the measured period, or peers decide
-- first_iteration  BIGINT   the first iteration replayed
-- last_iteration   BIGINT   the last
SELECT device_id, scenario, recoverable_ns, is_upper_bound, first_iteration, last_iteration
FROM replayed
WHERE scenario IS NOT NULL
