-- Iterations of the steady state, each with how many of them its device has: what means an iteration are over.
--
-- reads: iteration_window
-- row:   one steady iteration on one device
-- store: view
--
-- device_id        BIGINT  the device
-- iteration_index  BIGINT  the iteration
-- iterations       BIGINT  steady iterations of the device
SELECT device_id, iteration_index, count(*) OVER (PARTITION BY device_id) AS iterations
FROM iteration_window
WHERE is_steady
