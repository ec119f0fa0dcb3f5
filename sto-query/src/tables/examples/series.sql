-- The total cost of a function in each run, as a share of all samples, oldest run first.
-- :function  the function, as in `stack_node_data`
SELECT datetime(p.recorded, 'unixepoch') AS recorded, e.version, substr(p.id, 1, 12) AS profile,
       1.0 * sum(s.total_samples) FILTER (WHERE d.function = :function AND s.outermost) / sum(s.samples) AS share
FROM profile p
JOIN executable e ON e.id = p.executable_id
JOIN sample s ON s.profile = p.id AND s.event = p.event
JOIN stack_node_data d ON d.id = s.stack_node_data_id
GROUP BY p.id
ORDER BY p.recorded, e.version, p.id
