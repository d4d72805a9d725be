-- The recording as a whole.
--
-- reads: raw.capture
-- row:   one file
--
-- source_id     BIGINT  the file, in the order of the arguments, from 0
-- utc_start_ns  BIGINT  Unix time of the trace clock's zero, NULL where not recorded
-- duration_ns   BIGINT  end of the capture on the trace clock, NULL where not recorded
-- rank          BIGINT  rank of the whole file, NULL where not recorded
SELECT
    getvariable('source_id') AS source_id,
    utc_start AS utc_start_ns,
    "end" AS duration_ns,
    rank
FROM raw."capture"
