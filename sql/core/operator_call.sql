-- Calls of the framework's operators, whoever wrote them down: torch.profiler itself, or emit_nvtx as ranges.
--
-- reads: operator, host_range
-- row:   one call of an operator
--
-- operator_id        BIGINT   the call
-- process_id         BIGINT   the process
-- thread_id          BIGINT   the thread
-- name               VARCHAR  such as aten::addmm
-- start_ns           BIGINT   start on the trace clock
-- end_ns             BIGINT   end on the trace clock
-- sequence_number    BIGINT   joins an operator to its backward, NULL where none
-- forward_thread_id  BIGINT   the thread of the forward operator, for a backward one, NULL where not recorded
-- is_backward        BOOLEAN  whether it is the backward of an operator: a node of autograd's graph
-- input_shapes       VARCHAR  shapes of its inputs, NULL where they were not recorded
SELECT
    operator_id,
    process_id,
    thread_id,
    name,
    start_ns,
    end_ns,
    sequence_number,
    forward_thread_id,
    forward_thread_id IS NOT NULL OR regexp_matches(name, 'Backward\d*$') AS is_backward,
    input_shapes
FROM operator
UNION ALL
SELECT
    range_id,
    process_id,
    thread_id,
    split_part(name, ', ', 1),
    start_ns,
    end_ns,
    -- some versions write "stashed seq" in backward, some leave out the spaces
    try_cast(nullif(regexp_extract(name, ', (?:stashed )?seq ?= ?(\d+)', 1), '') AS BIGINT),
    NULL,
    regexp_matches(split_part(name, ', ', 1), 'Backward\d*$'),
    nullif(replace(regexp_extract(name, 'sizes = (\[.*?\])(?:, input_op_ids|$)', 1), ' ', ''), '')
FROM host_range
WHERE style = 'push_pop' AND regexp_matches(name, ', (op_id|(stashed )?seq) ?= ?\d')
