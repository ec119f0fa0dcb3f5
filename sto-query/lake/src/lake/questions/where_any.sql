-- Functions that exceed a share of an event's samples in a run, largest share first.
-- Change the lines that end in `<-`. The share includes callees. Only runs that have a row in `profile` count.
SELECT r.executable, r.build, r.profile, p.recorded, r.event, r.function, r.share
FROM (
    SELECT executable, build, profile, event, function,
           CAST(total_samples AS DOUBLE)
               / sum(samples) OVER (PARTITION BY executable, build, profile, event) AS share
    FROM (
        SELECT executable, build, profile, event, function, sum(samples) AS samples,
               -- Only the outermost calls of a recursive function count, as they include the inner ones.
               sum(CASE WHEN outermost THEN total_samples ELSE 0 END) AS total_samples
        FROM sample
        WHERE executable = 'demo'  -- the program <-
        GROUP BY executable, build, profile, event, function
    ) function_cost
) r
JOIN profile p ON p.executable = r.executable AND p.build = r.build AND p.id = r.profile
WHERE r.share > 0.15  -- the share, from 0 to 1 <-
ORDER BY r.share DESC, r.executable, r.build, r.profile, r.event, r.function
