-- How many iterations a process has, and how whole they are.
--
-- reads: iteration, iteration_window, api_call, process
-- row:   one process
--
-- process_id         BIGINT  the process
-- iterations         BIGINT  iterations on the host
-- on_gpu             BIGINT  those with operations, on its device that has the fewest
-- steady_iterations  BIGINT  steady ones, on its device that has the fewest
-- open_iterations    BIGINT  those that were not over when the recording ended
-- silent_iterations  BIGINT  those that begin after the last CUDA call that was recorded
WITH last_call AS (
    SELECT process_id, max(end_ns) AS at_ns FROM api_call GROUP BY process_id
),

host AS (
    SELECT
        i.process_id,
        count(*) AS iterations,
        count(*) FILTER (i.is_open) AS open_iterations,
        count(*) FILTER (i.start_ns > c.at_ns) AS silent_iterations
    FROM iteration AS i
    LEFT JOIN last_call AS c ON i.process_id = c.process_id
    GROUP BY i.process_id
),

steady AS (
    SELECT process_id, min(on_gpu) AS on_gpu, min(steady_iterations) AS steady_iterations
    FROM (
        SELECT process_id, device_id, count(*) AS on_gpu, count(*) FILTER (is_steady) AS steady_iterations
        FROM iteration_window
        GROUP BY ALL
    )
    GROUP BY process_id
)

SELECT
    p.process_id,
    coalesce(h.iterations, 0) AS iterations,
    coalesce(s.on_gpu, 0) AS on_gpu,
    coalesce(s.steady_iterations, 0) AS steady_iterations,
    coalesce(h.open_iterations, 0) AS open_iterations,
    coalesce(h.silent_iterations, 0) AS silent_iterations
FROM process AS p
LEFT JOIN host AS h ON p.process_id = h.process_id
LEFT JOIN steady AS s ON p.process_id = s.process_id
