-- What a function costs, run by run, as a share of an event's samples: the oldest run first.
-- Change the lines that end in `<-`. What it calls is part of it. Only runs that have a row in `profile` count.
SELECT p.recorded, r.build, r.profile, r.event, r.total, CAST(r.total_samples AS DOUBLE) / r.samples AS share
FROM (
    SELECT executable, build, profile, event, CAST(sum(samples) AS BIGINT) AS samples,
           CAST(sum(CASE WHEN is_asked THEN total ELSE 0 END) AS BIGINT) AS total,
           CAST(sum(CASE WHEN is_asked THEN total_samples ELSE 0 END) AS BIGINT) AS total_samples
    FROM (
        SELECT executable, build, profile, event, samples, total, total_samples,
               -- Of a recursive function its outermost calls: the inner ones are part of these.
               outermost AND function = 'parse' AS is_asked  -- the function <-
        FROM sample
        WHERE executable = 'demo'  -- the program <-
    ) stack
    GROUP BY executable, build, profile, event
) r
JOIN profile p ON p.executable = r.executable AND p.build = r.build AND p.id = r.profile
ORDER BY r.event, p.recorded, r.build, r.profile
