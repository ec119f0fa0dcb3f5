-- Who calls a function, and its total cost below each caller.
-- :version   the version
-- :function  the function, as in `stack_node_data`
SELECT caller.function AS caller, sum(n.total) AS total, sum(n.total_sample_count) AS samples
FROM executable e
JOIN stack_node n ON n.executable_id = e.id
JOIN stack_node_data d ON d.id = n.stack_node_data_id
LEFT JOIN stack_node p ON p.id = n.parent_id
LEFT JOIN stack_node_data caller ON caller.id = p.stack_node_data_id
WHERE e.version = :version AND d.function = :function
  -- Only the outermost calls of a recursive function count, as they include the inner ones.
  AND n.outermost
GROUP BY caller.function
ORDER BY total DESC, caller
