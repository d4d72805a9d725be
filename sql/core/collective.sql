-- Collectives, rank by rank: who came when, who waited for whom, and what no computing of the own device hides.
--
-- reads: communication_op, collective_match, clock_offset, compute_interval, op_phase, device
-- row:   one operation of one device that is a part of a collective
--
-- op_id                     BIGINT   the operation
-- source_id                 BIGINT   its file
-- process_id                BIGINT   its process
-- device_id                 BIGINT   its device
-- device_index              BIGINT   number of the device in reports
-- rank                      BIGINT   rank of its process, NULL where unknown
-- stream_id                 BIGINT   CUDA stream
-- collective                VARCHAR  all_reduce, all_gather, reduce_scatter … or unknown
-- communicator              VARCHAR  process group, NULL where not recorded
-- group_id                  BIGINT   devices that run these collectives together, told by their names and ends
-- sequence                  BIGINT   number of the collective among those of its kind in the group, NULL where its partners lack it
-- instance_id               BIGINT   the collective that it is a part of
-- iteration_index           BIGINT   iteration of its own process in which it was launched, NULL where in none
-- start_ns                  BIGINT   start on its own clock
-- end_ns                    BIGINT   end on its own clock
-- aligned_start_ns          BIGINT   start on the clock of the first file
-- aligned_end_ns            BIGINT   end on the clock of the first file
-- seen_ranks                BIGINT   devices of the recording in this collective
-- group_ranks               BIGINT   devices in its group: as recorded, else those that the recording shows
-- last_device_id            BIGINT   the device that came last, NULL where no other is in the recording
-- wait_ns                   BIGINT   from its start until the last one of the recording came, NULL where no other is in the recording
-- exposed_ns                BIGINT   time in it that no computing hides; of two collectives at once the earlier one has it
-- exposed_wait_ns           BIGINT   part of the exposed time that is waiting, NULL where no other is in the recording
-- wait_cost_ns              BIGINT   what its waiting costs the device: the exposed part, and of the hidden part the share of multiprocessors that the waiting kernel keeps from computing
-- last_wait_cost_ns         BIGINT   the same of the time in which only the last one was missing
-- message_bytes             BIGINT   bytes of the input, NULL where not recorded
-- bus_bytes_per_s           DOUBLE   bytes over the links a second once all had come, as nccl-tests counts them, NULL where not recorded
WITH aligned AS (
    SELECT
        c.*,
        m.group_id,
        m.position AS sequence,
        m.instance_id,
        m.members,
        c.start_ns + k.offset_ns AS aligned_start_ns,
        c.end_ns + k.offset_ns AS aligned_end_ns,
        -- where collectives of one device overlap, each exposed moment belongs to the one that started first
        least(greatest(c.start_ns, coalesce(max(c.end_ns) OVER (
            PARTITION BY c.device_id
            ORDER BY c.start_ns, c.end_ns, c.op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), c.start_ns)), c.end_ns) AS own_from_ns
    FROM communication_op AS c
    INNER JOIN collective_match AS m ON c.op_id = m.op_id
    INNER JOIN clock_offset AS k ON c.source_id = k.source_id
),

arrival AS (
    SELECT
        instance_id,
        count(*) AS seen_ranks,
        max(aligned_start_ns) AS last_start_ns,
        arg_max(device_id, aligned_start_ns ORDER BY device_id) AS last_device_id,
        -- the last but one
        max(aligned_start_ns, 2)[2] AS second_start_ns
    FROM aligned
    GROUP BY instance_id
),

waited AS (
    SELECT
        a.*,
        r.seen_ranks,
        CASE WHEN r.seen_ranks > 1 THEN r.last_device_id END AS last_device_id,
        CASE
            WHEN r.seen_ranks > 1
                THEN
                    least(r.last_start_ns - a.aligned_start_ns, a.end_ns - a.start_ns)
        END AS wait_ns,
        CASE
            WHEN r.seen_ranks > 1
                THEN
                    least(greatest(r.second_start_ns - a.aligned_start_ns, 0), a.end_ns - a.start_ns)
        END AS early_wait_ns
    FROM aligned AS a
    INNER JOIN arrival AS r ON a.instance_id = r.instance_id
),

timed AS (
    SELECT
        *,
        greatest(start_ns + coalesce(wait_ns, 0), own_from_ns) AS all_there_at_ns,
        greatest(start_ns + coalesce(early_wait_ns, 0), own_from_ns) AS all_but_one_at_ns
    FROM waited
),

moment AS (
    SELECT device_id, op_id, 'from' AS edge, own_from_ns AS at_ns FROM timed
    UNION ALL
    SELECT device_id, op_id, 'until', end_ns FROM timed
    UNION ALL
    SELECT device_id, op_id, 'all_there', all_there_at_ns FROM timed
    UNION ALL
    SELECT device_id, op_id, 'all_but_one', all_but_one_at_ns FROM timed
),

computed AS (
    SELECT
        m.op_id,
        m.edge,
        -- time up to this moment in which the device did not compute
        m.at_ns - coalesce(i.before_ns + least(m.at_ns, i.end_ns) - i.start_ns, 0) AS uncovered_ns
    FROM moment AS m
    ASOF LEFT JOIN compute_interval AS i ON m.device_id = i.device_id AND m.at_ns >= i.start_ns
),

held AS (
    SELECT
        t.op_id,
        -- a waiting kernel spins: each of its blocks holds a multiprocessor
        coalesce(least(t.blocks / nullif(d.sm_count, 0), 1.0), 0.0) AS held_share
    FROM timed AS t
    INNER JOIN device AS d ON t.device_id = d.device_id
),

edges AS (
    SELECT
        op_id,
        max(uncovered_ns) FILTER (edge = 'from') AS from_ns,
        max(uncovered_ns) FILTER (edge = 'until') AS until_ns,
        max(uncovered_ns) FILTER (edge = 'all_there') AS all_there_ns,
        max(uncovered_ns) FILTER (edge = 'all_but_one') AS all_but_one_ns
    FROM computed
    GROUP BY op_id
)

SELECT
    w.op_id,
    w.source_id,
    w.process_id,
    w.device_id,
    d.device_index,
    d.rank,
    w.stream_id,
    w.collective,
    w.communicator,
    w.group_id,
    w.sequence,
    w.instance_id,
    p.iteration_index,
    w.start_ns,
    w.end_ns,
    w.aligned_start_ns,
    w.aligned_end_ns,
    w.seen_ranks,
    greatest(coalesce(w.group_size, 0), w.members) AS group_ranks,
    w.last_device_id,
    w.wait_ns,
    e.until_ns - e.from_ns AS exposed_ns,
    CASE WHEN w.seen_ranks > 1 THEN e.all_there_ns - e.from_ns END AS exposed_wait_ns,
    CASE
        WHEN w.seen_ranks > 1
            THEN
                (e.all_there_ns - e.from_ns)
                + ((w.all_there_at_ns - w.own_from_ns) - (e.all_there_ns - e.from_ns)) * h.held_share
    END::BIGINT AS wait_cost_ns,
    CASE
        WHEN w.device_id = w.last_device_id THEN 0
        WHEN w.seen_ranks > 1 THEN
            (e.all_there_ns - e.all_but_one_ns)
            + ((w.all_there_at_ns - w.all_but_one_at_ns) - (e.all_there_ns - e.all_but_one_ns)) * h.held_share
    END::BIGINT AS last_wait_cost_ns,
    w.message_bytes,
    w.message_bytes
    * CASE w.collective
        WHEN 'all_reduce' THEN 2.0 * (w.group_size - 1) / w.group_size
        -- the input of a gather is one rank's share of what goes round
        WHEN 'all_gather' THEN 1.0 * (w.group_size - 1)
        WHEN 'reduce_scatter' THEN 1.0 * (w.group_size - 1) / w.group_size
        WHEN 'all_to_all' THEN 1.0 * (w.group_size - 1) / w.group_size
        ELSE 1.0
    END
    / nullif(w.end_ns - w.start_ns - coalesce(w.wait_ns, 0), 0) * 1e9 AS bus_bytes_per_s
FROM timed AS w
INNER JOIN edges AS e ON w.op_id = e.op_id
INNER JOIN held AS h ON w.op_id = h.op_id
INNER JOIN device AS d ON w.device_id = d.device_id
LEFT JOIN op_phase AS p ON w.op_id = p.op_id
