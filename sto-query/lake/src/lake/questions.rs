//! Questions to a dataset that are shipped.

/// A question in SQL that DuckDB, DataFusion, Ballista and Spark answer alike, from tables `sample` and `profile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// What it is called.
    pub name: &'static str,
    /// Its SQL. Comments at its beginning say what it answers; lines that end in `<-` have what to change.
    pub sql: &'static str,
}

impl Question {
    /// What it answers, in a sentence: the first line of its SQL.
    pub fn about(&self) -> &'static str {
        let first = self.sql.lines().next().unwrap_or_default();
        first.trim_start_matches("-- ")
    }
}

macro_rules! questions {
    ($($name:literal),* $(,)?) => {
        /// Questions that are shipped, in the order of their names.
        pub const QUESTIONS: &[Question] = &[$(Question {
            name: concat!("lake/", $name),
            sql: include_str!(concat!("questions/", $name, ".sql")),
        }),*];
    };
}

questions!("counts", "series", "top", "where_any", "where_over");
