-- The functions whose share of the samples grew by more than runs vary, largest growth first.
-- :baseline   the version to compare with
-- :candidate  the version to check
--
-- The samples of a function are all whose stack contains it; recursion counts once. Its share must grow by at least two
-- standard errors, which are unknown with one run per build. `SELECT * FROM find_regressions('v1', 'v2')` also tests
-- whether the number of runs suffices, and looks for the cause.
WITH run AS (
    SELECT p.id, p.event, e.version, sum(f.samples) AS samples
    FROM executable e
    JOIN profile p ON p.executable_id = e.id
    JOIN function_sample f ON f.profile = p.id AND f.event = p.event
    WHERE e.version IN (:baseline, :candidate)
    GROUP BY p.id
), cost AS (
    SELECT run.id, f.function, 1.0 * sum(f.total_samples) / run.samples AS share
    FROM run
    JOIN function_sample f ON f.profile = run.id AND f.event = run.event
    GROUP BY run.id, f.function
), side AS (
    SELECT f.function, run.version, avg(coalesce(cost.share, 0)) AS share,
           coalesce(pow(stddev(coalesce(cost.share, 0)), 2) / count(*), 0) AS variance
    FROM (SELECT DISTINCT function FROM cost) f
    CROSS JOIN run
    LEFT JOIN cost ON cost.function = f.function AND cost.id = run.id
    GROUP BY f.function, run.version
)
SELECT c.function, b.share AS baseline, c.share AS candidate, c.share - b.share AS growth,
       sqrt(b.variance + c.variance) AS standard_error
FROM side b
JOIN side c ON c.function = b.function
WHERE b.version = :baseline AND c.version = :candidate AND growth > max(2 * standard_error, 1e-9)
ORDER BY growth DESC, c.function
LIMIT 30
