-- What the export says of its processes.
--
-- reads: raw.PROCESSES, raw.MPI_RANKS
-- row:   one process
--
-- process_id  BIGINT   the process, unique over all files of the run
-- pid         BIGINT   the operating system's number for it
-- name        VARCHAR  file name of its executable, without the path
-- rank        BIGINT   rank in a distributed run, NULL where not recorded
SELECT
    (getvariable('source_id') << 24) | ((p."globalPid" >> 24) & 16777215) AS process_id,
    any_value(coalesce(p.pid, (p."globalPid" >> 24) & 16777215)) AS pid,
    any_value(regexp_extract(p.name, '([^/\\]*)$', 1)) AS name,
    min(r.rank) AS rank
FROM raw."PROCESSES" AS p
LEFT JOIN raw."MPI_RANKS" AS r ON p."globalPid" >> 24 = r."globalTid" >> 24
WHERE p."globalPid" IS NOT NULL
GROUP BY ALL
