-- The functions whose share of the samples grew by more than runs vary, largest growth first.
-- :baseline   the version to compare with
-- :candidate  the version to check
--
-- The samples of a function are all whose stack contains it; recursion counts once. Its share must grow by at least two
-- standard errors, which are unknown with one run per build. `SELECT * FROM find_regressions('v1', 'v2')` also tests
-- whether the number of runs suffices, and looks for the cause.
WITH run AS (
    SELECT p.id, p.event, e.version, sum(s.samples) AS samples
    FROM executable e
    JOIN profile p ON p.executable_id = e.id
    JOIN sample s ON s.profile = p.id AND s.event = p.event
    WHERE e.version IN (:baseline, :candidate)
    GROUP BY p.id
), cost AS (
    SELECT run.id, d.function, 1.0 * sum(s.total_samples) / run.samples AS share
    FROM run
    JOIN sample s ON s.profile = run.id AND s.event = run.event
    JOIN stack_node_data d ON d.id = s.stack_node_data_id
    WHERE s.outermost
    GROUP BY run.id, d.function
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
