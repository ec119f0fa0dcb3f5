//! A full-text index of frames.

use rusqlite::{Connection, Statement, params};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use sto_core::model::{FrameIx, FrameTable};

/// A full-text index of frames, by SQLite's FTS5.
pub(super) struct TextIndex(Mutex<Connection>);

impl TextIndex {
    /// Indexes every frame.
    pub(super) fn new(frames: &FrameTable) -> rusqlite::Result<TextIndex> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE VIRTUAL TABLE frame USING fts5(symbol, file, line, content = '')",
        )?;
        let filling = connection.transaction()?;
        let mut insert =
            filling.prepare("INSERT INTO frame (rowid, symbol, file, line) VALUES (?, ?, ?, ?)")?;
        for (ix, frame) in frames.iter() {
            insert.execute(params![ix.0, frame.symbol, frame.file, frame.line])?;
        }
        drop(insert);
        filling.commit()?;
        Ok(TextIndex(Mutex::new(connection)))
    }

    /// Returns the frames that contain all of the words, the most relevant first.
    pub(super) fn find(&self, words: &str) -> rusqlite::Result<Vec<(FrameIx, f64)>> {
        let words = phrases(words);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Statement<'_> = connection
            .prepare("SELECT rowid, rank FROM frame WHERE frame MATCH ? ORDER BY rank, rowid")?;
        let rows = found.query_map([words], |row| Ok((FrameIx(row.get(0)?), row.get(1)?)))?;
        rows.collect()
    }
}

/// Converts words to FTS5 syntax: each quoted, so that `std::vec` is not parsed, with its optional column prefix and
/// trailing `*`.
fn phrases(words: &str) -> String {
    let mut text = String::new();
    for word in words.split_whitespace() {
        let columns = ["symbol", "file", "line"].into_iter();
        let mut named = columns.filter_map(|name| {
            let rest = word.strip_prefix(name)?.strip_prefix(':')?;
            (!rest.is_empty() && !rest.starts_with(':')).then_some((name, rest))
        });
        let (column, word) = named.next().unwrap_or(("", word));
        let (word, star) = match word.strip_suffix('*') {
            Some(beginning) => (beginning, "*"),
            None => (word, ""),
        };
        // FTS5 finds nothing for a phrase without letters and digits.
        if !word.chars().any(char::is_alphanumeric) {
            continue;
        }
        if !column.is_empty() {
            let _ = write!(text, "{column} : ");
        }
        let _ = write!(text, "\"{}\"{star} ", word.replace('"', "\"\""));
    }
    text
}
