-- The functions of a build with the highest self cost.
-- :version  the version
SELECT f.self, f.total, 1.0 * f.samples / e.samples AS self_share, f.function, f.module
FROM executable e
JOIN function_cost f ON f.build = e.id AND f.event = e.event
WHERE e.version = :version
ORDER BY f.self DESC, f.total DESC, f.function
LIMIT 30
