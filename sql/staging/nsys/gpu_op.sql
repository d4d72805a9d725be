-- Every GPU operation: kernels, memory copies, memsets, and CUDA graph launches traced as one.
--
-- reads: raw.CUPTI_ACTIVITY_KIND_KERNEL, raw.CUPTI_ACTIVITY_KIND_MEMCPY, raw.CUPTI_ACTIVITY_KIND_MEMSET, raw.CUPTI_ACTIVITY_KIND_GRAPH_TRACE, raw.PROCESSES
-- row:   one operation that the profiler gave a time
--
-- op_id           BIGINT    the operation, unique over all files of the run
-- process_id      BIGINT    the process that launched it
-- device_id       BIGINT    the device (process and CUDA ordinal)
-- context_id      BIGINT    CUDA context, unique per process
-- stream_id       BIGINT    CUDA stream, unique per context
-- kind            ENUM      kernel, memcpy, memset or graph
-- name_id         BIGINT    its name, in op_name
-- start_ns        BIGINT    start on the trace clock
-- end_ns          BIGINT    end on the trace clock, never before the start
-- correlation_id  BIGINT    joins it to its launch, together with process_id
-- graph_node_id   BIGINT    the node of a CUDA graph that it ran as, NULL outside graphs
-- bytes           BIGINT    bytes copied or set, NULL for kernels
-- copy_kind       ENUM      HtoD, DtoH, DtoD, PtoP, HtoH or other for copies, NULL for the rest
-- is_pageable     BOOLEAN   whether a copy reads or writes pageable host memory
-- is_managed      BOOLEAN   whether it is a migration of unified memory
-- grid            BIGINT    blocks in the grid of a kernel
-- block           BIGINT    threads in a block of a kernel
-- label           VARCHAR   the name that the trace itself puts on the operation, NULL where it puts none
-- label_phase     ENUM      forward or backward, where such a label says so
WITH only_process AS (
    SELECT min(globalPid) AS "globalPid" FROM raw."PROCESSES" HAVING count(*) = 1
),

operation AS (
    SELECT
        0 AS kind_bits,
        'kernel' AS kind,
        start,
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "globalPid",
        "graphNodeId",
        "demangledName" AS name_key,
        NULL::BIGINT AS bytes,
        NULL::BIGINT AS "copyKind",
        NULL::BIGINT AS "srcKind",
        NULL::BIGINT AS "dstKind",
        "gridX" * "gridY" * "gridZ" AS grid, "blockX" * "blockY" * "blockZ" AS block, row_number AS place
    FROM raw."CUPTI_ACTIVITY_KIND_KERNEL"
    UNION ALL
    SELECT
        1, 'memcpy', start, "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId",
        -1 - coalesce("copyKind", 0), bytes, "copyKind", "srcKind", "dstKind", NULL, NULL, row_number
    FROM raw."CUPTI_ACTIVITY_KIND_MEMCPY"
    UNION ALL
    SELECT
        2, 'memset', start, "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId",
        -100, bytes, NULL, NULL, NULL, NULL, NULL, row_number
    FROM raw."CUPTI_ACTIVITY_KIND_MEMSET"
    UNION ALL
    SELECT
        3, 'graph', start, "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", NULL,
        -101, NULL, NULL, NULL, NULL, NULL, NULL, row_number
    FROM raw."CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
)

SELECT
    (getvariable('source_id') << 48) | (kind_bits::BIGINT << 44) | place AS op_id,
    (getvariable('source_id') << 24)
    | ((coalesce(o."globalPid", only_process."globalPid", 0) >> 24) & 16777215) AS process_id,
    (
        (getvariable('source_id') << 32)
        | (((coalesce(o."globalPid", only_process."globalPid", 0) >> 24) & 16777215) << 8)
        | (coalesce("deviceId", 0) & 255)
    ) AS device_id,
    coalesce("contextId", 0) AS context_id,
    coalesce("streamId", 0) AS stream_id,
    kind::ENUM('kernel', 'memcpy', 'memset', 'graph') AS kind,
    (getvariable('source_id') << 40) + coalesce(name_key, -102) AS name_id,
    start AS start_ns,
    greatest("end", start) AS end_ns,
    nullif("correlationId", 0) AS correlation_id,
    nullif("graphNodeId", 0) AS graph_node_id,
    bytes,
    CASE
        WHEN kind <> 'memcpy' THEN NULL
        WHEN "copyKind" IN (1, 3, 11) THEN 'HtoD'
        WHEN "copyKind" IN (2, 4, 12) THEN 'DtoH'
        WHEN "copyKind" IN (5, 6, 7, 8, 13) THEN 'DtoD'
        WHEN "copyKind" = 9 THEN 'HtoH'
        WHEN "copyKind" = 10 THEN 'PtoP'
        ELSE 'other'
    END::ENUM('HtoD', 'DtoH', 'DtoD', 'PtoP', 'HtoH', 'other') AS copy_kind,
    kind = 'memcpy' AND ("srcKind" = 0 OR "dstKind" = 0) AS is_pageable,
    kind = 'memcpy' AND "copyKind" IN (11, 12, 13) AS is_managed,
    grid,
    block,
    NULL::VARCHAR AS label,
    NULL::ENUM('forward', 'backward') AS label_phase
FROM operation AS o
LEFT JOIN only_process ON true
WHERE o.start IS NOT NULL AND o."end" IS NOT NULL AND NOT (o.start = 0 AND o."end" = 0)
