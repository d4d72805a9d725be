-- GPU operations by name: kernels, and copies and memsets beside them.
--
-- reads: gpu_op, op_name, op_class, device
-- row:   one name on one device
-- store: view
--
-- device_index  BIGINT   the device
-- name          VARCHAR  full name
-- short_name    VARCHAR  name without its parameters
-- kind          VARCHAR  kernel, memcpy, memset or graph
-- op_class      VARCHAR  compute, communication or copy
-- instances     BIGINT   how often it ran
-- total_ms      DOUBLE   its lengths, summed
-- share_pct     DOUBLE   these as a share of all operations of the device, in percent
-- mean_us       DOUBLE   mean length
-- median_us     DOUBLE   median length
-- min_us        DOUBLE   shortest
-- max_us        DOUBLE   longest
WITH named AS (
    SELECT
        gpu_op.device_id,
        gpu_op.kind,
        op_name.name,
        any_value(op_name.short_name) AS short_name,
        any_value(op_class.op_class) AS op_class,
        count(*) AS instances,
        sum(gpu_op.end_ns - gpu_op.start_ns)::BIGINT AS total_ns,
        median(gpu_op.end_ns - gpu_op.start_ns) AS median_ns,
        min(gpu_op.end_ns - gpu_op.start_ns) AS min_ns,
        max(gpu_op.end_ns - gpu_op.start_ns) AS max_ns
    FROM gpu_op
    LEFT JOIN op_name ON gpu_op.name_id = op_name.name_id
    LEFT JOIN op_class ON gpu_op.name_id = op_class.name_id
    GROUP BY gpu_op.device_id, gpu_op.kind, op_name.name
)

SELECT
    d.device_index::BIGINT AS device_index,
    n.name,
    n.short_name,
    n.kind::VARCHAR AS kind,
    n.op_class,
    n.instances,
    n.total_ns / 1e6 AS total_ms,
    100 * n.total_ns / nullif(sum(n.total_ns) OVER (PARTITION BY n.device_id), 0)::DOUBLE AS share_pct,
    n.total_ns / 1e3 / n.instances AS mean_us,
    n.median_ns / 1e3 AS median_us,
    n.min_ns / 1e3 AS min_us,
    n.max_ns / 1e3 AS max_us
FROM named AS n
INNER JOIN device AS d ON n.device_id = d.device_id
ORDER BY total_ms DESC, name
