-- Operators of the framework, as PyTorch's dispatcher and autograd engine record them.
-- A backward operator names its forward thread by a number of autograd's own: the thread that shares most sequence numbers with it.
--
-- reads: raw.cpu_op, raw.string
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
WITH numbered AS (
    SELECT DISTINCT sequence, coalesce(forward, 0) AS forward, thread FROM raw."cpu_op" WHERE sequence >= 0
),

shared AS (
    SELECT b.forward, f.thread, count(*) AS sequences
    FROM numbered AS b
    INNER JOIN numbered AS f ON b.sequence = f.sequence AND f.forward = 0
    WHERE b.forward <> 0
    GROUP BY ALL
),

forward_thread AS (
    SELECT forward, arg_max(thread, sequences) AS thread FROM shared GROUP BY forward
)

SELECT
    (getvariable('source_id') << 48) | o.row_number AS operator_id,
    (getvariable('source_id') << 24) | (o.thread >> 24) AS process_id,
    (getvariable('source_id') << 48) | o.thread AS thread_id,
    coalesce(n.value, '(unnamed)') AS name,
    o.start AS start_ns,
    o."end" AS end_ns,
    CASE WHEN o.sequence >= 0 THEN o.sequence END AS sequence_number,
    (getvariable('source_id') << 48) | t.thread AS forward_thread_id,
    shapes.value AS input_shapes
FROM raw."cpu_op" AS o
LEFT JOIN forward_thread AS t ON o.forward = t.forward
LEFT JOIN raw."string" AS n ON o.name_id = n.id
LEFT JOIN raw."string" AS shapes ON o.shapes_id = shapes.id
