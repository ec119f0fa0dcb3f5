-- The total cost of a function in each run, as a share of all samples, oldest run first.
-- :function  the function, as in `function_sample`
SELECT datetime(p.recorded, 'unixepoch') AS recorded, e.version, substr(p.id, 1, 12) AS profile,
       1.0 * sum(f.total_samples) FILTER (WHERE f.function = :function) / sum(f.samples) AS share
FROM profile p
JOIN executable e ON e.id = p.executable_id
JOIN function_sample f ON f.profile = p.id AND f.event = p.event
GROUP BY p.id
ORDER BY p.recorded, e.version, p.id
