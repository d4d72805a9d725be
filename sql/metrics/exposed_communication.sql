-- What collectives cost a device in a steady iteration: the time in them that no computing hides, and how much of it is waiting.
--
-- reads: rank_iteration, collective
-- row:   one device that communicates in steady iterations
--
-- device_id              BIGINT   the device
-- device_index           BIGINT   number of the device in reports
-- rank                   BIGINT   rank of its process, NULL where unknown
-- collectives            BIGINT   median operations an iteration that communicate
-- median_exposed_ns      BIGINT   median exposed time
-- median_wait_ns         BIGINT   median of the part of it that is waiting for other ranks, NULL where no other is in the recording
-- median_transfer_ns     BIGINT   median of the rest: data on its way; NULL likewise
-- largest_kind           VARCHAR  the kind of collective that most of it is in
-- largest_kind_share     DOUBLE   that kind's share of it
-- has_all_ranks          BOOLEAN  whether the recording has all ranks of the process groups, as far as it says how many they are
-- bus_bytes_per_s        DOUBLE   median bandwidth over the links once all ranks had come, NULL where sizes were not recorded
WITH typical AS (
    SELECT
        device_id,
        device_index,
        rank,
        median(collectives)::BIGINT AS collectives,
        median(exposed_ns)::BIGINT AS median_exposed_ns,
        median(exposed_wait_ns)::BIGINT AS median_wait_ns,
        median(exposed_ns - exposed_wait_ns)::BIGINT AS median_transfer_ns
    FROM rank_iteration
    WHERE is_steady
    GROUP BY device_id, device_index, rank
),

kind AS (
    SELECT c.device_id, c.collective, sum(c.exposed_ns) AS exposed_ns
    FROM collective AS c
    INNER JOIN rank_iteration AS r ON c.device_id = r.device_id AND c.iteration_index = r.iteration_index AND r.is_steady
    GROUP BY c.device_id, c.collective
),

largest AS (
    SELECT
        device_id,
        arg_max(collective, exposed_ns) AS largest_kind,
        (max(exposed_ns) / nullif(sum(exposed_ns), 0))::DOUBLE AS largest_kind_share
    FROM kind
    GROUP BY device_id
),

whole AS (
    SELECT
        device_id,
        bool_and(seen_ranks >= group_ranks AND seen_ranks > 1) AS has_all_ranks,
        median(bus_bytes_per_s) AS bus_bytes_per_s
    FROM collective
    GROUP BY device_id
)

SELECT
    t.device_id,
    t.device_index,
    t.rank,
    t.collectives,
    t.median_exposed_ns,
    t.median_wait_ns,
    t.median_transfer_ns,
    l.largest_kind,
    l.largest_kind_share,
    w.has_all_ranks,
    w.bus_bytes_per_s
FROM typical AS t
INNER JOIN largest AS l ON t.device_id = l.device_id
INNER JOIN whole AS w ON t.device_id = w.device_id
