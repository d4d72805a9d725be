-- What the recorder knows of a collective beyond its kernel, by operation.
-- Eager traces name the collective (allreduce, _allgather_base); annotations of CUDA graphs carry it as the label (all_reduce).
--
-- reads: raw.collective, raw.gpu_op
-- row:   one GPU operation that is a collective
--
-- op_id            BIGINT   the operation
-- collective       VARCHAR  all_reduce, all_gather, reduce_scatter …
-- communicator     VARCHAR  process group
-- group_size       BIGINT   ranks in it
-- sequence_number  BIGINT   its number within the process group, NULL where not recorded
-- message_bytes    BIGINT   bytes of the input, NULL where not recorded
-- dtype            VARCHAR  element type
WITH described AS (
    SELECT
        *,
        regexp_replace(lower(coalesce(collective, '')), '^c10d::|^nccl:|[ _]', '', 'g') AS plain,
        lower(coalesce(dtype, '')) AS element
    FROM raw."collective"
)

SELECT
    (getvariable('source_id') << 48) | (o.kind << 44) | d.place AS op_id,
    CASE
        WHEN plain LIKE 'allreduce%' THEN 'all_reduce'
        WHEN plain LIKE 'allgather%' THEN 'all_gather'
        WHEN plain LIKE 'reducescatter%' THEN 'reduce_scatter'
        WHEN plain LIKE 'alltoall%' THEN 'all_to_all'
        WHEN plain LIKE 'broadcast%' THEN 'broadcast'
        WHEN plain LIKE 'barrier%' THEN 'barrier'
        WHEN plain LIKE 'reduce%' THEN 'reduce'
        WHEN plain LIKE 'gather%' THEN 'gather'
        WHEN plain LIKE 'scatter%' THEN 'scatter'
        WHEN plain LIKE 'send%' OR plain LIKE 'isend%' THEN 'send'
        WHEN plain LIKE 'recv%' OR plain LIKE 'irecv%' THEN 'recv'
        WHEN plain = '' THEN 'unknown'
        ELSE lower(d.collective)
    END AS collective,
    CASE
        WHEN group_text <> '' AND group_name <> '' THEN group_text || ' (' || group_name || ')'
        ELSE coalesce(nullif(group_text, ''), nullif(group_name, ''), '')
    END AS communicator,
    group_size,
    sequence AS sequence_number,
    elements * CASE
        WHEN element IN ('double', 'float64', 'long', 'int64', 'uint64', 'complexfloat', 'complex64') THEN 8
        WHEN element IN ('complexdouble', 'complex128') THEN 16
        WHEN element IN ('float', 'float32', 'int', 'int32', 'uint32') THEN 4
        WHEN element IN ('half', 'float16', 'bfloat16', 'c10::half', 'c10::bfloat16', 'short', 'int16', 'uint16') THEN 2
        WHEN element IN ('byte', 'uint8', 'char', 'int8', 'bool') OR element LIKE 'float8%' THEN 1
    END AS message_bytes,
    dtype
FROM described AS d
INNER JOIN raw."gpu_op" AS o ON d.place = o.place
