-- The correlation of each function's self samples with a metric, on average over benchmarks.
-- :metric  the metric
-- :runs    leave out functions that fewer runs of a benchmark have
--
-- Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), appendix A.2. Runs without the function are left
-- out, as by `sto bottlenecks --omit-absent`, and so are benchmarks in which its samples or the metric are the same in all runs.
WITH cost AS (
    SELECT e.name AS executable, p.benchmark, f.function, m.value, sum(f.samples) AS samples
    FROM metric m
    JOIN profile p ON p.id = m.profile
    JOIN executable e ON e.id = p.executable_id
    JOIN function_sample f ON f.profile = p.id AND f.event = p.event
    WHERE m.name = :metric
    GROUP BY p.id, f.function
)
SELECT function, avg(coefficient) AS coefficient, count(*) AS benchmarks
FROM (
    SELECT function, corr(samples, value) AS coefficient
    FROM cost
    GROUP BY executable, benchmark, function
    HAVING count(*) >= :runs
)
WHERE coefficient IS NOT NULL
GROUP BY function
ORDER BY coefficient DESC, function
LIMIT 30
