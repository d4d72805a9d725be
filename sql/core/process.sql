-- Processes that did anything: on the GPU, in CUDA calls, or in ranges.
--
-- reads: gpu_op, api_call, host_range, process_info, capture_info, source
-- row:   one process of one file
--
-- process_id     BIGINT   the process, unique over all files of the run
-- source_id      BIGINT   its file
-- process_index  BIGINT   its number in reports, from 0
-- pid            BIGINT   the operating system's number for it
-- name           VARCHAR  its executable or what the recorder calls it, NULL where not recorded
-- rank           BIGINT   rank in a distributed run: from the trace, else the file name, else the order of the files; NULL in a run of one
WITH seen AS (
    SELECT DISTINCT process_id FROM gpu_op
    UNION
    SELECT DISTINCT process_id FROM api_call
    UNION
    SELECT DISTINCT process_id FROM host_range
),

run AS (
    SELECT
        count(*) AS files,
        -- ranks in file names are believed only where they tell all files apart
        count(DISTINCT rank_in_name) = count(*) AS is_named
    FROM source
)

SELECT
    seen.process_id,
    seen.process_id >> 24 AS source_id,
    row_number() OVER (ORDER BY seen.process_id) - 1 AS process_index,
    coalesce(i.pid, seen.process_id & 16777215) AS pid,
    i.name,
    coalesce(
        i.rank,
        capture_info.rank,
        CASE WHEN run.is_named THEN source.rank_in_name END,
        CASE WHEN run.files > 1 THEN source.source_id END
    ) AS rank
FROM seen
CROSS JOIN run
INNER JOIN source ON (seen.process_id >> 24) = source.source_id
LEFT JOIN process_info AS i ON seen.process_id = i.process_id
LEFT JOIN capture_info ON source.source_id = capture_info.source_id
