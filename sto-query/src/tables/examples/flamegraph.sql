-- The stacks of a build as folded text, for flamegraph.pl or speedscope.
-- :version  the version
SELECT stack(n.id) || ' ' || n.sample_count AS folded
FROM executable e
JOIN stack_node n ON n.executable_id = e.id
WHERE e.version = :version AND n.sample_count > 0
ORDER BY folded
