-- Who calls a function, and what it costs below each caller, with what it calls.
-- :version   the version
-- :function  the function, as `stack_node_data` has it
SELECT caller.function AS caller, sum(n.total) AS total, sum(n.total_sample_count) AS samples
FROM executable e
JOIN stack_node n ON n.executable_id = e.id
JOIN stack_node_data d ON d.id = n.stack_node_data_id
LEFT JOIN stack_node p ON p.id = n.parent_id
LEFT JOIN stack_node_data caller ON caller.id = p.stack_node_data_id
WHERE e.version = :version AND d.function = :function
  -- Of a recursive function its outermost calls: the inner ones are part of these.
  AND n.outermost
GROUP BY caller.function
ORDER BY total DESC, caller
