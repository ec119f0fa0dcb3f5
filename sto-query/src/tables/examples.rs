//! Queries that are shipped.

/// A query that is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// What it is called.
    pub name: &'static str,
    /// Its SQL; comments at its beginning say what it answers, and with which parameters.
    pub sql: &'static str,
}

impl Example {
    /// What it answers, in a sentence: the first line of its SQL.
    pub fn about(&self) -> &'static str {
        let first = self.sql.lines().next().unwrap_or_default();
        first.trim_start_matches("-- ")
    }

    /// The names of its parameters, in the order in which it says them.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let comments = self.sql.lines().take_while(|line| line.starts_with("--"));
        comments.filter_map(|line| line.strip_prefix("-- :")?.split([' ', ',']).next())
    }
}

macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        /// Queries that are shipped, in the order of their names.
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            sql: include_str!(concat!("examples/", $name, ".sql")),
        }),*];
    };
}

examples!(
    "call_graph",
    "callers",
    "code_path_potential",
    "find_regressions",
    "flamegraph",
    "series",
    "top",
    "where_over",
);
