-- Names of threads. A thread may be named several times: the highest priority wins.
--
-- reads: raw.ThreadNames, raw.StringIds
-- row:   one thread
--
-- thread_id  BIGINT   the thread, unique over all files of the run
-- tid        BIGINT   the operating system's number for it
-- name       VARCHAR  its name
SELECT
    (getvariable('source_id') << 48) | (t."globalTid" & 281474976710655) AS thread_id,
    any_value(t."globalTid" & 16777215) AS tid,
    arg_max(s.value, coalesce(t.priority, 0)) AS name
FROM raw."ThreadNames" AS t
INNER JOIN raw."StringIds" AS s ON t."nameId" = s.id
WHERE t."globalTid" IS NOT NULL
GROUP BY ALL
