-- What a build would save if a code path cost nothing: the largest part of it first.
-- :version  the version
--
-- The cost of a path is that of its stack with all below it. `SELECT * FROM potential('v1')` has functions, wherever
-- they are called.
SELECT stack(n.id) AS path, n.total AS potential, 1.0 * n.total_sample_count / e.samples AS share
FROM executable e
JOIN stack_node n ON n.executable_id = e.id
WHERE e.version = :version
ORDER BY n.total DESC, path
LIMIT 30
