-- How far the recording of each file lies from the nearest other one of the run, by the clock of the calendar.
--
-- reads: gpu_op, capture_info
-- row:   one file whose clock and that of another file are known
--
-- source_id  BIGINT  the file, in the order of the arguments, from 0
-- apart_ns   BIGINT  from the end of the one to the beginning of the other, 0 where they overlap
WITH recorded AS (
    SELECT
        c.source_id,
        min(o.start_ns) + any_value(c.utc_start_ns) AS first_ns,
        max(o.end_ns) + any_value(c.utc_start_ns) AS last_ns
    FROM gpu_op AS o
    INNER JOIN capture_info AS c ON (o.process_id >> 24) = c.source_id
    WHERE c.utc_start_ns IS NOT NULL
    GROUP BY c.source_id
)

SELECT
    r.source_id,
    min(greatest(r.first_ns - o.last_ns, o.first_ns - r.last_ns, 0))::BIGINT AS apart_ns
FROM recorded AS r
INNER JOIN recorded AS o ON r.source_id <> o.source_id
GROUP BY r.source_id
