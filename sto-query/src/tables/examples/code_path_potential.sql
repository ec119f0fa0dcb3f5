-- The cost that a build would save if a code path were free, largest saving first.
-- :version  the version
--
-- The cost of a path is the total cost of its stack. `SELECT * FROM potential('v1')` returns the same for functions,
-- summed over all paths.
SELECT stack(n.id) AS path, n.total AS potential, 1.0 * n.total_sample_count / e.samples AS share
FROM executable e
JOIN stack_node n ON n.executable_id = e.id
WHERE e.version = :version
ORDER BY n.total DESC, path
LIMIT 30
