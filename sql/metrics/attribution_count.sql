-- How operations were given to phases, and how many have no launch.
--
-- reads: op_phase
-- row:   the run
--
-- operations    BIGINT  GPU operations
-- direct        BIGINT  given to the phase open on the launching thread
-- cross_thread  BIGINT  given to the phase open on another thread of the process
-- graph         BIGINT  given to the phase in which their graph node was created
-- annotation    BIGINT  given to a phase by a label on the operation itself
-- unattributed  BIGINT  given to no phase
-- unlinked      BIGINT  whose launch was not recorded
SELECT
    count(*) AS operations,
    count(*) FILTER (method = 'direct') AS direct,
    count(*) FILTER (method = 'cross_thread') AS cross_thread,
    count(*) FILTER (method = 'graph') AS graph,
    count(*) FILTER (method = 'annotation') AS annotation,
    count(*) FILTER (method = 'none') AS unattributed,
    count(*) FILTER (call_id IS NULL) AS unlinked
FROM op_phase
