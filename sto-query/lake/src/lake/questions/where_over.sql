-- Runs in which a function has more than a share of an event's samples: the largest share first.
-- Change the lines that end in `<-`. What it calls is part of it. Only runs that have a row in `profile` count.
SELECT r.executable, r.build, r.profile, p.recorded, r.event, CAST(r.total_samples AS DOUBLE) / r.samples AS share
FROM (
    SELECT executable, build, profile, event, sum(samples) AS samples,
           sum(CASE WHEN is_asked THEN total_samples ELSE 0 END) AS total_samples
    FROM (
        SELECT executable, build, profile, event, samples, total_samples,
               -- Of a recursive function its outermost calls: the inner ones are part of these.
               outermost AND function = 'parse' AS is_asked  -- the function <-
        FROM sample
        WHERE executable = 'demo'  -- the program <-
    ) stack
    GROUP BY executable, build, profile, event
) r
JOIN profile p ON p.executable = r.executable AND p.build = r.build AND p.id = r.profile
WHERE r.total_samples > 0.15 * r.samples  -- the share, from 0 to 1 <-
ORDER BY share DESC, r.executable, r.build, r.profile, r.event
