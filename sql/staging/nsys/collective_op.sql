-- What the recorder knows of a collective beyond its kernel, by operation. In Nsight Systems exports: nothing.
--
-- row:   one GPU operation that is a collective
--
-- op_id            BIGINT   the operation
-- collective       VARCHAR  all_reduce, all_gather, reduce_scatter …
-- communicator     VARCHAR  process group
-- group_size       BIGINT   ranks in it
-- sequence_number  BIGINT   its number within the process group, NULL where not recorded
-- message_bytes    BIGINT   bytes of the input, NULL where not recorded
-- dtype            VARCHAR  element type
SELECT
    0::BIGINT AS op_id,
    ''::VARCHAR AS collective,
    ''::VARCHAR AS communicator,
    0::BIGINT AS group_size,
    NULL::BIGINT AS sequence_number,
    NULL::BIGINT AS message_bytes,
    NULL::VARCHAR AS dtype
WHERE false
