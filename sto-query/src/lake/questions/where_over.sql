-- Runs in which a function has more than a share of an event's samples: the largest share first.
-- Change the lines that end in `<-`. What it calls is part of it. Only runs that have a row in `profile` count.
SELECT r.executable, r.build, r.profile, p.recorded, r.event, r.function, r.share
FROM (
    SELECT executable, build, profile, event, function,
           CAST(total_samples AS DOUBLE)
               / sum(samples) OVER (PARTITION BY executable, build, profile, event) AS share
    FROM (
        SELECT executable, build, profile, event, function, sum(samples) AS samples,
               -- Of a recursive function its outermost calls: the inner ones are part of these.
               sum(CASE WHEN outermost THEN total_samples ELSE 0 END) AS total_samples
        FROM (
            SELECT executable, build, profile, event, samples, total_samples, outermost,
                   CASE WHEN function = 'parse' THEN function END AS function  -- the function; for any, `function` <-
            FROM sample
            WHERE executable = 'demo'  -- the program <-
        ) stack
        GROUP BY executable, build, profile, event, function
    ) function_cost
) r
JOIN profile p ON p.executable = r.executable AND p.build = r.build AND p.id = r.profile
WHERE r.function IS NOT NULL
  AND r.share > 0.15  -- the share, from 0 to 1 <-
ORDER BY r.share DESC, r.executable, r.build, r.profile, r.event, r.function
