-- Counts of two builds by function and run.
-- Change the lines that end in `<-`: program and builds stand there twice. What is known of a run has a row of its own.
SELECT id AS profile, record, NULL AS event, NULL AS symbol, NULL AS module, NULL AS file, NULL AS kind,
       NULL AS self, NULL AS samples, NULL AS total, NULL AS total_samples
FROM profile
WHERE executable = 'demo'    -- the program <-
  AND build IN ('v1', 'v2')  -- the builds <-
UNION ALL
SELECT profile, NULL, event, symbol, module, min(file), kind,
       CAST(sum(self) AS BIGINT),
       CAST(sum(samples) AS BIGINT),
       -- Of a recursive function its outermost calls: the inner ones are part of these.
       CAST(sum(CASE WHEN outermost THEN total ELSE 0 END) AS BIGINT),
       CAST(sum(CASE WHEN outermost THEN total_samples ELSE 0 END) AS BIGINT)
FROM sample
WHERE executable = 'demo'    -- the program <-
  AND build IN ('v1', 'v2')  -- the builds <-
GROUP BY profile, event, symbol, module, kind
