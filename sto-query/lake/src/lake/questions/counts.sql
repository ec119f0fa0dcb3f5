-- Counts of two builds by function and run.
-- Change the lines that end in `<-`; program and builds occur twice. The record of each run has a row of its own.
SELECT profile, NULL AS record, event, coalesce(other_symbol, function) AS symbol, module, min(file) AS file, kind,
       CAST(sum(self) AS BIGINT) AS self,
       CAST(sum(samples) AS BIGINT) AS samples,
       -- Only the outermost calls of a recursive function count, as they include the inner ones.
       CAST(sum(CASE WHEN outermost THEN total ELSE 0 END) AS BIGINT) AS total,
       CAST(sum(CASE WHEN outermost THEN total_samples ELSE 0 END) AS BIGINT) AS total_samples
FROM sample
WHERE executable = 'demo'    -- the program <-
  AND build IN ('v1', 'v2')  -- the builds <-
GROUP BY profile, event, coalesce(other_symbol, function), module, kind
UNION ALL
SELECT id, record, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM profile
WHERE executable = 'demo'    -- the program <-
  AND build IN ('v1', 'v2')  -- the builds <-
