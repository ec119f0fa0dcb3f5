-- The samples that a build would save if a function took no time, largest saving first.
-- :version  the version
--
-- This is the code path potential of Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 5.1:
-- the self cost of all stacks that end in the function. `SELECT * FROM potential('v1')` adds callees.
SELECT d.function AS code_path, sum(n.self) AS potential, 1.0 * sum(n.sample_count) / e.samples AS share
FROM executable e
JOIN stack_node n ON n.executable_id = e.id
JOIN stack_node_data d ON d.id = n.stack_node_data_id
WHERE e.version = :version AND n.sample_count > 0
GROUP BY e.id, d.function
ORDER BY potential DESC, code_path
LIMIT 30
