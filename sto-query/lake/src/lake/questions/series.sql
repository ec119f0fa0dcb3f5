-- The cost of a function in each run, and its share of an event's samples, oldest run first.
-- Change the lines that end in `<-`. The cost includes callees. Only runs that have a row in `profile` count.
SELECT p.recorded, r.build, r.profile, r.event, r.total, CAST(r.total_samples AS DOUBLE) / r.samples AS share
FROM (
    SELECT executable, build, profile, event, CAST(sum(samples) AS BIGINT) AS samples,
           CAST(sum(CASE WHEN is_asked THEN total ELSE 0 END) AS BIGINT) AS total,
           CAST(sum(CASE WHEN is_asked THEN total_samples ELSE 0 END) AS BIGINT) AS total_samples
    FROM (
        SELECT executable, build, profile, event, samples, total, total_samples,
               -- Only the outermost calls of a recursive function count, as they include the inner ones.
               outermost AND function = 'parse' AS is_asked  -- the function <-
        FROM sample
        WHERE executable = 'demo'  -- the program <-
    ) stack
    GROUP BY executable, build, profile, event
) r
JOIN profile p ON p.executable = r.executable AND p.build = r.build AND p.id = r.profile
ORDER BY r.event, p.recorded, r.build, r.profile
