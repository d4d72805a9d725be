-- Every GPU operation, with its launch, its phase and its iteration.
--
-- reads: op_name, op_class, op_phase, api_name, device, gpu_op
-- row:   one operation
-- store: view
--
-- device_index     BIGINT   the device
-- context_id       BIGINT   CUDA context, unique per process
-- stream_id        BIGINT   CUDA stream, unique per context
-- kind             VARCHAR  kernel, memcpy, memset or graph
-- op_class         VARCHAR  compute, communication or copy
-- name             VARCHAR  full name
-- short_name       VARCHAR  name without its parameters
-- start_ns         BIGINT   start on the trace clock
-- end_ns           BIGINT   end on the trace clock
-- duration_us      DOUBLE   its length
-- iteration_index  BIGINT   the iteration, NULL outside of iterations
-- phase            VARCHAR  role of its phase, or the phase's name where the role is not known, NULL where it has none
-- attribution      VARCHAR  how it was given to the phase: direct, cross_thread, graph, annotation or none
-- call             VARCHAR  the call that launched it, NULL where not recorded
-- call_start_ns    BIGINT   start of that call
-- call_end_ns      BIGINT   return of that call
-- graph_node_id    BIGINT   the node of a CUDA graph that it ran as, NULL outside graphs
-- bytes            BIGINT   bytes copied or set, NULL for kernels
-- copy_kind        VARCHAR  HtoD, DtoH, DtoD, PtoP, HtoH or other for copies
-- is_pageable      BOOLEAN  whether a copy reads or writes pageable host memory
-- grid             BIGINT   blocks in the grid of a kernel
-- block            BIGINT   threads in a block of a kernel
SELECT
    d.device_index::BIGINT AS device_index,
    g.context_id,
    o.stream_id,
    o.kind::VARCHAR AS kind,
    op_class.op_class,
    op_name.name,
    op_name.short_name,
    o.start_ns,
    o.end_ns,
    (o.end_ns - o.start_ns) / 1e3 AS duration_us,
    o.iteration_index::BIGINT AS iteration_index,
    o.phase,
    o.method::VARCHAR AS attribution,
    api_name.name AS call,
    o.call_start_ns,
    o.call_end_ns,
    g.graph_node_id,
    g.bytes,
    g.copy_kind::VARCHAR AS copy_kind,
    g.is_pageable,
    g.grid,
    g.block
FROM op_phase AS o
INNER JOIN gpu_op AS g ON o.op_id = g.op_id
INNER JOIN device AS d ON o.device_id = d.device_id
LEFT JOIN op_name ON o.name_id = op_name.name_id
LEFT JOIN op_class ON o.name_id = op_class.name_id
LEFT JOIN api_name ON o.call_name_id = api_name.name_id
