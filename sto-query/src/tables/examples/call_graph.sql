-- The call graph of a build, rebuilt from its stacks: each function below its callers.
-- :version  the version
-- :share    omit stacks with at most this share of all samples, from 0 to 1
WITH RECURSIVE graph (id, data, depth, samples, path) AS (
    SELECT n.id, n.stack_node_data_id, 0, n.total_sample_count, printf('%015d', 1e15 - n.total_sample_count) || n.id
    FROM executable e
    JOIN stack_node n ON n.executable_id = e.id
    WHERE e.version = :version AND n.parent_id IS NULL AND n.total_sample_count > :share * e.samples
    UNION ALL
    SELECT n.id, n.stack_node_data_id, depth + 1, n.total_sample_count,
           path || printf('%015d', 1e15 - n.total_sample_count) || n.id
    FROM graph
    JOIN stack_node n ON n.parent_id = graph.id
    JOIN executable e ON e.id = n.executable_id
    WHERE n.total_sample_count > :share * e.samples
)
SELECT graph.samples, printf('%*s%s', 2 * depth, '', d.symbol) AS stack
FROM graph
JOIN stack_node_data d ON d.id = graph.data
ORDER BY path
