-- The samples of each code location in two builds, largest growth first.
-- :baseline   the version to compare with
-- :candidate  the version to check
--
-- These are sums of samples, without a test; `SELECT * FROM find_regressions('v1', 'v2')` returns significant changes.
SELECT d.symbol, d.file, d.line, s.baseline, s.candidate, s.candidate - s.baseline AS growth
FROM (
    SELECT n.stack_node_data_id,
           coalesce(sum(n.sample_count) FILTER (WHERE e.version = :baseline), 0) AS baseline,
           coalesce(sum(n.sample_count) FILTER (WHERE e.version = :candidate), 0) AS candidate
    FROM executable e
    JOIN stack_node n ON n.executable_id = e.id
    WHERE e.version IN (:baseline, :candidate)
    GROUP BY n.stack_node_data_id
) s
JOIN stack_node_data d ON d.id = s.stack_node_data_id
WHERE s.baseline <> s.candidate
ORDER BY growth DESC, d.symbol, d.file, d.line
LIMIT 30
