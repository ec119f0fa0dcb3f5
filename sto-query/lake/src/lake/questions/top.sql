-- The functions that cost most by themselves over all runs of a program, event by event.
-- Change the lines that end in `<-`. As each file appears whole, a run counts before it has a row in `profile`.
SELECT event, function, module, self, total, CAST(samples AS DOUBLE) / all_samples AS self_share
FROM (
    SELECT event, function, module, self, total, samples,
           sum(samples) OVER (PARTITION BY event) AS all_samples,
           row_number() OVER (PARTITION BY event ORDER BY self DESC, total DESC, function, module NULLS FIRST) AS place
    FROM (
        SELECT event, function, module, CAST(sum(self) AS BIGINT) AS self,
               -- Of a recursive function its outermost calls: the inner ones are part of these.
               CAST(sum(CASE WHEN outermost THEN total ELSE 0 END) AS BIGINT) AS total,
               CAST(sum(samples) AS BIGINT) AS samples
        FROM sample
        WHERE executable = 'demo'    -- the program <-
          AND build IN ('v1', 'v2')  -- its builds; without this line, all <-
        GROUP BY event, function, module
    ) function_cost
) ranked
WHERE place <= 30  -- how many of each event <-
ORDER BY event, place
