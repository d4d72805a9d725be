-- Calls of operators as their nesting needs them.
--
-- reads: operator_call
-- row:   one call of an operator
-- store: view
--
-- operator_id  BIGINT   the call
-- thread_id    BIGINT   the thread
-- name         VARCHAR  such as aten::addmm
-- start_ns     BIGINT   start on the trace clock
-- end_ns       BIGINT   end on the trace clock
SELECT operator_id, thread_id, name, start_ns, end_ns
FROM operator_call
