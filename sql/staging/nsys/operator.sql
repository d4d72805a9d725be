-- Operators of the framework, where the recorder itself lists them. In Nsight Systems they are
-- ranges (emit_nvtx), so none here.
--
-- row:   one call of an operator
--
-- operator_id        BIGINT   the call, unique over all files of the run
-- process_id         BIGINT   the process
-- thread_id          BIGINT   the thread
-- name               VARCHAR  such as aten::addmm
-- start_ns           BIGINT   start on the trace clock
-- end_ns             BIGINT   end on the trace clock
-- sequence_number    BIGINT   joins an operator to its backward, NULL where none
-- forward_thread_id  BIGINT   the thread of the forward operator, for a backward one
-- input_shapes       VARCHAR  shapes of its inputs as recorded, NULL where they were not
SELECT
    0::BIGINT AS operator_id,
    0::BIGINT AS process_id,
    0::BIGINT AS thread_id,
    ''::VARCHAR AS name,
    0::BIGINT AS start_ns,
    0::BIGINT AS end_ns,
    NULL::BIGINT AS sequence_number,
    NULL::BIGINT AS forward_thread_id,
    NULL::VARCHAR AS input_shapes
WHERE false
