-- Operations in the stretches whose idle time is looked at, with their launches and phases.
--
-- reads: op_phase, gpu_op, examined_member
-- row:   one operation
--
-- op_id            BIGINT   the operation
-- process_id       BIGINT   its process
-- device_id        BIGINT   its device
-- context_id       BIGINT   CUDA context
-- stream_id        BIGINT   CUDA stream
-- kind             VARCHAR  kernel, memcpy, memset or graph
-- name_id          BIGINT   its name, in op_name
-- start_ns         BIGINT   start on the trace clock
-- end_ns           BIGINT   end on the trace clock
-- bytes            BIGINT   bytes copied or set, NULL for kernels
-- copy_kind        VARCHAR  direction of a copy
-- is_pageable      BOOLEAN  whether a copy touches pageable host memory
-- call_id          BIGINT   the launching call, NULL where none was recorded
-- thread_id        BIGINT   the launching thread
-- call_start_ns    BIGINT   start of the call
-- call_end_ns      BIGINT   return of the call
-- call_name_id     BIGINT   name of the call, in api_name
-- phase            VARCHAR  its phase, NULL where it belongs to none
-- is_known_role    BOOLEAN  whether the phase's role is known
-- iteration_index  BIGINT   the iteration in which it was launched, NULL where in none
SELECT
    o.op_id,
    o.process_id,
    o.device_id,
    g.context_id,
    o.stream_id,
    o.kind::VARCHAR AS kind,
    o.name_id,
    o.start_ns,
    o.end_ns,
    g.bytes,
    g.copy_kind::VARCHAR AS copy_kind,
    g.is_pageable,
    o.call_id,
    o.thread_id,
    o.call_start_ns,
    o.call_end_ns,
    o.call_name_id,
    o.phase,
    o.is_known_role,
    o.iteration_index
FROM op_phase AS o
INNER JOIN examined_member AS m ON o.op_id = m.op_id
INNER JOIN gpu_op AS g ON o.op_id = g.op_id
