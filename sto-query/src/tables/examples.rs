//! Example queries that ship with sto.

/// An example query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// Name of the query.
    pub name: &'static str,
    /// SQL text, which begins with comments that describe the query and its parameters.
    pub sql: &'static str,
}

impl Example {
    /// Returns the first line of the description.
    pub fn about(&self) -> &'static str {
        let first = self.sql.lines().next().unwrap_or_default();
        first.trim_start_matches("-- ")
    }

    /// Returns the names of the parameters, in the order in which the comments list them.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let comments = self.sql.lines().take_while(|line| line.starts_with("--"));
        comments.filter_map(|line| line.strip_prefix("-- :")?.split([' ', ',']).next())
    }
}

macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        /// The example queries, sorted by name.
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            sql: include_str!(concat!("examples/", $name, ".sql")),
        }),*];
    };
}

examples!(
    "bottlenecks",
    "call_graph",
    "callers",
    "code_path_potential",
    "find_regressions",
    "flamegraph",
    "regressions_over_time",
    "series",
    "top",
    "where_over",
);
