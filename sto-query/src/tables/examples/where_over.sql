-- Builds in which a function and its callees exceed a share of all samples.
-- :function  the function, as in `function_cost`
-- :share     the share, from 0 to 1
SELECT e.name, e.version, 1.0 * f.total_samples / e.samples AS share
FROM executable e
JOIN function_cost f ON f.build = e.id AND f.event = e.event
WHERE f.function = :function AND f.total_samples > :share * e.samples
ORDER BY share DESC, e.name, e.version
