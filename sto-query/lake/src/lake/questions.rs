//! SQL queries for datasets that ship with sto.

/// An SQL query over the tables `sample` and `profile` that gives the same result in DuckDB, DataFusion, Ballista and
/// Spark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineQuestion {
    /// Name of the query.
    pub name: &'static str,
    /// SQL text, which begins with comments that describe the query. Lines ending in `<-` contain values to adapt.
    pub sql: &'static str,
}

impl EngineQuestion {
    /// Returns the first line of the description.
    pub fn about(&self) -> &'static str {
        let first = self.sql.lines().next().unwrap_or_default();
        first.trim_start_matches("-- ")
    }
}

macro_rules! questions {
    ($($name:literal),* $(,)?) => {
        /// The queries, sorted by name.
        pub const QUESTIONS: &[EngineQuestion] = &[$(EngineQuestion {
            name: concat!("lake/", $name),
            sql: include_str!(concat!("questions/", $name, ".sql")),
        }),*];
    };
}

questions!("counts", "series", "top", "where_any", "where_over");
