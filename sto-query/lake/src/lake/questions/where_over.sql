-- Runs in which a function exceeds a share of an event's samples, largest share first.
-- Change the lines that end in `<-`. The share includes callees. Only runs that have a row in `profile` count.
SELECT r.executable, r.build, r.profile, p.recorded, r.event, CAST(r.total_samples AS DOUBLE) / r.samples AS share
FROM (
    SELECT executable, build, profile, event, sum(samples) AS samples,
           sum(CASE WHEN is_asked THEN total_samples ELSE 0 END) AS total_samples
    FROM (
        SELECT executable, build, profile, event, samples, total_samples,
               -- Only the outermost calls of a recursive function count, as they include the inner ones.
               outermost AND function = 'parse' AS is_asked  -- the function <-
        FROM sample
        WHERE executable = 'demo'  -- the program <-
    ) stack
    GROUP BY executable, build, profile, event
) r
JOIN profile p ON p.executable = r.executable AND p.build = r.build AND p.id = r.profile
WHERE r.total_samples > 0.15 * r.samples  -- the share, from 0 to 1 <-
ORDER BY share DESC, r.executable, r.build, r.profile, r.event
