-- What each call of an operator took on the host and on the GPU, by itself and with the operators that it called.
--
-- The host's time at each instant belongs to the innermost call. GPU time is the sum of the operations launched inside,
-- on the operator's thread: a CUDA graph belongs to what replays it, not to what was captured.
--
-- reads: operator_call, operator_sweep, launched_op
-- row:   one call of an operator
--
-- operator_id  BIGINT  the call
-- parent_id    BIGINT  the call that it was made in, NULL at the top
-- cpu_ns       BIGINT  its length on the host
-- self_cpu_ns  BIGINT  that without the operators inside
-- gpu_ns       BIGINT  lengths of the operations launched in it, summed
-- self_gpu_ns  BIGINT  of those launched by itself
-- ops          BIGINT  operations launched in it
WITH RECURSIVE own AS (
    SELECT innermost_id AS operator_id, sum(open_ns)::BIGINT AS self_cpu_ns
    FROM operator_sweep
    WHERE innermost_id IS NOT NULL
    GROUP BY ALL
),

opened AS (
    SELECT
        operator_id,
        is_start,
        lag(innermost_id) OVER (PARTITION BY thread_id ORDER BY place) AS parent_id
    FROM operator_sweep
),

parent AS (
    SELECT operator_id, parent_id FROM opened WHERE is_start
),

moment AS (
    SELECT thread_id, at_ns, arg_max_null(innermost_id, place) AS operator_id
    FROM operator_sweep
    GROUP BY ALL
),

launched AS (
    SELECT m.operator_id, sum(o.end_ns - o.start_ns)::BIGINT AS gpu_ns, count(*) AS ops
    FROM launched_op AS o
    ASOF INNER JOIN moment AS m ON o.thread_id = m.thread_id AND o.call_start_ns >= m.at_ns
    WHERE m.operator_id IS NOT NULL
    GROUP BY ALL
),

carried AS (
    SELECT operator_id, gpu_ns, ops FROM launched
    UNION ALL
    SELECT p.parent_id, c.gpu_ns, c.ops
    FROM carried AS c
    INNER JOIN parent AS p ON c.operator_id = p.operator_id
    WHERE p.parent_id IS NOT NULL
),

inclusive AS (
    SELECT operator_id, sum(gpu_ns)::BIGINT AS gpu_ns, sum(ops)::BIGINT AS ops FROM carried GROUP BY ALL
)

SELECT
    c.operator_id,
    p.parent_id,
    c.end_ns - c.start_ns AS cpu_ns,
    coalesce(own.self_cpu_ns, 0) AS self_cpu_ns,
    coalesce(i.gpu_ns, 0) AS gpu_ns,
    coalesce(l.gpu_ns, 0) AS self_gpu_ns,
    coalesce(i.ops, 0) AS ops
FROM operator_call AS c
INNER JOIN parent AS p ON c.operator_id = p.operator_id
LEFT JOIN own ON c.operator_id = own.operator_id
LEFT JOIN inclusive AS i ON c.operator_id = i.operator_id
LEFT JOIN launched AS l ON c.operator_id = l.operator_id
