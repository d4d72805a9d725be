-- Calls of the framework's operators, whoever wrote them down: torch.profiler itself, or emit_nvtx as ranges.
--
-- reads: operator, host_range
-- row:   one call of an operator
-- store: view
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
-- input_shapes       VARCHAR  shapes of its inputs as recorded, NULL where they were not
WITH emitted AS (
    SELECT
        *,
        strpos(name, 'seq = ') AS seq_at,
        strpos(name, ', op_id = ') AS op_id_at,
        strpos(name, 'sizes = [') AS sizes_at,
        strpos(name, '], input_op_ids') AS inputs_at
    FROM host_range
    WHERE style = 'push_pop' AND is_emitted
)

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
    label,
    start_ns,
    end_ns,
    CASE
        WHEN contains(name, 'seq') THEN coalesce(
            -- cutting a text takes a fraction of the time that a pattern takes
            CASE
                WHEN seq_at > 0 AND op_id_at > seq_at
                    THEN try_cast(substr(name, seq_at + 6, op_id_at - seq_at - 6) AS BIGINT)
            END,
            -- some versions write "stashed seq" in backward, some leave out the spaces
            try_cast(regexp_extract(name, ', (?:stashed )?seq ?= ?(\d+)', 1) AS BIGINT)
        )
    END,
    NULL,
    CASE WHEN contains(label, 'Backward') THEN regexp_matches(label, 'Backward\d*$') ELSE false END,
    CASE
        WHEN sizes_at > 0 AND inputs_at > sizes_at THEN substr(name, sizes_at + 8, inputs_at - sizes_at - 7)
        WHEN sizes_at > 0 AND ends_with(name, ']') THEN substr(name, sizes_at + 8)
    END
FROM emitted
