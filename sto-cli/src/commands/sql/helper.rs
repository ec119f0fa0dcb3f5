//! Line editing in the shell: completion, and detection of unfinished statements.

use super::dot::COMMANDS;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use sto_query::lake::QUESTIONS;
use sto_query::tables::{Database, EXAMPLES};

/// Completes names, and continues the line until the statement ends.
pub(super) struct SqlHelper {
    names: Vec<String>,
}

/// Common SQL keywords.
const KEYWORDS: [&str; 24] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "LIMIT",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "LIKE",
    "IN",
    "AS",
    "DISTINCT",
    "HAVING",
    "WITH RECURSIVE",
    "UNION ALL",
    "DESC",
    "count(",
    "sum(",
    "coalesce(",
];

impl SqlHelper {
    /// Collects the names of tables, columns and functions.
    pub(super) fn new() -> SqlHelper {
        let mut names: Vec<String> = KEYWORDS.map(str::to_owned).into();
        for name in Database::names() {
            let parenthesis = if name.arguments.is_some() { "(" } else { "" };
            names.push(format!("{}{parenthesis}", name.name));
            names.extend(name.columns.into_iter().map(|(name, _)| name));
        }
        names.sort();
        names.dedup();
        SqlHelper { names }
    }

    /// The start of the word before the cursor, and its completions.
    pub(super) fn completions(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let typed = line.get(..at).unwrap_or(line);
        if let Some(rest) = typed.strip_prefix(".examples ") {
            let of_engines = QUESTIONS.iter().map(|question| question.name);
            let names = EXAMPLES
                .iter()
                .map(|example| example.name)
                .chain(of_engines);
            return (
                at - rest.len(),
                names
                    .filter(|name| name.starts_with(rest))
                    .map(str::to_owned)
                    .collect(),
            );
        }
        if typed.starts_with('.') {
            let names = COMMANDS.iter().map(|(name, ..)| (*name).to_owned());
            return (0, names.filter(|name| name.starts_with(typed)).collect());
        }
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let word = typed
            .rsplit(|letter| !is_of_word(letter))
            .next()
            .unwrap_or_default();
        if word.is_empty() {
            return (at, Vec::new());
        }
        let fits = |name: &&String| {
            let start = name.get(..word.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        (
            at - word.len(),
            self.names.iter().filter(fits).cloned().collect(),
        )
    }
}

impl Helper for SqlHelper {}

impl Highlighter for SqlHelper {}

impl Hinter for SqlHelper {
    type Hint = String;
}

impl Completer for SqlHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (from, names) = self.completions(line, at);
        let pairs = names.into_iter().map(|name| Pair {
            display: name.clone(),
            replacement: name,
        });
        Ok((from, pairs.collect()))
    }
}

/// Whether a line is a command or ends with a complete statement.
pub(super) fn is_complete(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('.') || line.ends_with(';')
}

impl Validator for SqlHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}
