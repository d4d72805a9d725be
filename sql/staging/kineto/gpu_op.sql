-- Every GPU operation: kernels, memory copies and memsets. All belong to the process that calls CUDA (a trace is of one process).
-- An annotated export may show an operation on a display lane: its stream is then original_stream.
--
-- reads: raw.gpu_op, raw.process, raw.string
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
WITH owner AS (
    SELECT key FROM raw."process" WHERE is_main
),

operation AS (
    SELECT
        o.*,
        n.value AS name,
        CASE WHEN o.kind = 1 THEN regexp_extract(n.value, '(HtoD|DtoH|DtoD|PtoP|HtoH)', 1) END AS direction,
        coalesce(o.device, o.lane_pid, 0) & 255 AS ordinal,
        label.value AS label,
        phase.value AS phase
    FROM raw."gpu_op" AS o
    LEFT JOIN raw."string" AS n ON o.name_id = n.id
    LEFT JOIN raw."string" AS label ON o.label_id = label.id
    LEFT JOIN raw."string" AS phase ON o.phase_id = phase.id
)

SELECT
    (getvariable('source_id') << 48) | (o.kind << 44) | o.place AS op_id,
    (getvariable('source_id') << 24) | owner.key AS process_id,
    (getvariable('source_id') << 32) | (owner.key << 8) | o.ordinal AS device_id,
    coalesce(o.context, 0) AS context_id,
    coalesce(o.original_stream, o.stream, 0) AS stream_id,
    CASE
    o.kind WHEN 0 THEN 'kernel' WHEN 1 THEN 'memcpy' ELSE 'memset'
    END::ENUM('kernel', 'memcpy', 'memset', 'graph') AS kind,
    (getvariable('source_id') << 40) + o.name_id AS name_id,
    o.start AS start_ns,
    o."end" AS end_ns,
    nullif(o.correlation, 0) AS correlation_id,
    nullif(o.graph_node, 0) AS graph_node_id,
    CASE WHEN o.kind <> 0 THEN o.bytes END AS bytes,
    CASE
        WHEN o.kind = 1 THEN coalesce(nullif(o.direction, ''), 'other')
    END::ENUM('HtoD', 'DtoH', 'DtoD', 'PtoP', 'HtoH', 'other') AS copy_kind,
    o.kind = 1 AND contains(coalesce(o.name, ''), 'Pageable') AS is_pageable,
    false AS is_managed,
    CASE WHEN o.kind = 0 THEN o.grid END AS grid,
    CASE WHEN o.kind = 0 THEN o.block END AS block,
    o.label,
    CASE WHEN o.phase IN ('forward', 'backward') THEN o.phase END::ENUM('forward', 'backward') AS label_phase
FROM operation AS o
CROSS JOIN owner
WHERE NOT (o.start = 0 AND o."end" = 0)
