-- Ranges that programs and libraries marked on the host: user annotations (record_function), not their copies on the GPU's lanes.
-- Traces of 2021 list those that PyTorch itself makes among the operators. Those of a communication library are in its domain.
--
-- reads: raw.annotation, raw.cpu_op, raw.string
-- row:   one range
--
-- range_id       BIGINT   the range, unique over all files of the run
-- process_id     BIGINT   the process it was opened in
-- thread_id      BIGINT   the thread it was opened on
-- end_thread_id  BIGINT   the thread it was closed on
-- style          VARCHAR  push_pop (nests per thread) or start_end (overlaps freely)
-- domain         VARCHAR  NVTX domain, '' for the default one
-- name           VARCHAR  as given by the program
-- label          VARCHAR  the name up to its first comma: what emit_nvtx appends (numbers, shapes) is left off
-- is_emitted     BOOLEAN  emit_nvtx wrote the name, for an operator
-- start_ns       BIGINT   opening on the trace clock
-- end_ns         BIGINT   closing on the trace clock: the end of the capture where it was never closed
-- is_open        BOOLEAN  never closed within the capture
-- color          BIGINT   ARGB, NULL where none was given
-- category       VARCHAR  name of its category, or its number where that has no name
-- payload        DOUBLE   numeric payload, NULL where none was given
WITH marked AS (
    SELECT thread, name_id, start, "end", finished FROM raw."annotation"
    UNION ALL
    SELECT o.thread, o.name_id, o.start, o."end", NULL
    FROM raw."cpu_op" AS o
    INNER JOIN raw."string" AS s ON o.name_id = s.id
    WHERE
        regexp_matches(s.value, '^(ProfilerStep#\d+|Optimizer\.(step|zero_grad)#.*|enumerate\(DataLoader\)#.*)$')
)

SELECT
    (getvariable('source_id') << 48) | row_number() OVER () AS range_id,
    (getvariable('source_id') << 24) | (thread >> 24) AS process_id,
    (getvariable('source_id') << 48) | thread AS thread_id,
    (getvariable('source_id') << 48) | thread AS end_thread_id,
    'push_pop' AS style,
    CASE WHEN s.value LIKE 'nccl:%' THEN 'NCCL' WHEN s.value LIKE 'gloo:%' THEN 'gloo' ELSE '' END AS domain,
    coalesce(s.value, '') AS name,
    split_part(coalesce(s.value, ''), ', ', 1) AS label,
    regexp_matches(coalesce(s.value, ''), ', (op_id|(stashed )?seq) ?= ?\d') AS is_emitted,
    start AS start_ns,
    "end" AS end_ns,
    coalesce(finished = 'false', false) AS is_open,
    NULL::BIGINT AS color,
    NULL::VARCHAR AS category,
    NULL::DOUBLE AS payload
FROM marked
LEFT JOIN raw."string" AS s ON marked.name_id = s.id
