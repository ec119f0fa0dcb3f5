-- The functions with the highest self cost over all runs of a program, for each event.
-- Change the lines that end in `<-`. Runs without a row in `profile` are included, because each file is complete.
SELECT event, function, module, self, total, CAST(samples AS DOUBLE) / all_samples AS self_share
FROM (
    SELECT event, function, module, self, total, samples,
           sum(samples) OVER (PARTITION BY event) AS all_samples,
           row_number() OVER (PARTITION BY event ORDER BY self DESC, total DESC, function, module NULLS FIRST) AS place
    FROM (
        SELECT event, function, module, CAST(sum(self) AS BIGINT) AS self,
               -- Only the outermost calls of a recursive function count, as they include the inner ones.
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
