-- Functions of the newest build by their distance from the runs before, in standard deviations.
-- :executable  the program
-- :benchmark   the benchmark, or '' for runs without one
-- :window      the number of runs before the newest build
--
-- Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), appendix A.1. A run without the function counts as
-- zero samples. `sto regressions-over-time --window-runs N` also tests the difference, and looks for the cause.
WITH run AS (
    SELECT *, row_number() OVER (PARTITION BY is_newest ORDER BY recorded DESC, id) AS age
    FROM (
        SELECT p.id, p.event, p.recorded,
               p.executable_id = first_value(p.executable_id) OVER (ORDER BY p.recorded DESC, p.id) AS is_newest
        FROM profile p
        JOIN executable e ON e.id = p.executable_id
        WHERE e.name = :executable AND coalesce(p.benchmark, '') = :benchmark
    )
), chosen AS (
    SELECT * FROM run WHERE is_newest OR age <= :window
), cost AS (
    SELECT chosen.id, f.function, sum(f.total_samples) AS samples
    FROM chosen
    JOIN function_sample f ON f.profile = chosen.id AND f.event = chosen.event
    GROUP BY chosen.id, f.function
)
SELECT *, CASE WHEN deviation > 0 THEN (actual - expected) / deviation ELSE 0 END AS score
FROM (
    SELECT f.function,
           avg(coalesce(cost.samples, 0)) FILTER (WHERE NOT is_newest) AS expected,
           stddev(coalesce(cost.samples, 0)) FILTER (WHERE NOT is_newest) AS deviation,
           avg(coalesce(cost.samples, 0)) FILTER (WHERE is_newest) AS actual
    FROM (SELECT DISTINCT function FROM cost) f
    CROSS JOIN chosen
    LEFT JOIN cost ON cost.function = f.function AND cost.id = chosen.id
    GROUP BY f.function
)
ORDER BY score DESC, function
LIMIT 30
