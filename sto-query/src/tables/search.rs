//! `search`: full-text search of frames.

use super::asked::Asked;
use super::ids::Hex;
use super::stored::{Stored, Unanswered};
use super::table::{Column, Listed, Rows, Table, count, known};
use rusqlite::types::Value;
use std::sync::Arc;
use sto_core::id::FrameId;

/// The `search` table.
pub(super) struct Search;

const WORDS: usize = 6;

impl Table for Search {
    const NAME: &'static str = "search";
    const COLUMNS: &'static [Column] = &[
        Column::text("id"),
        Column::text("symbol"),
        Column::text("file"),
        Column::integer("line"),
        Column::text("module"),
        Column::real("rank"),
        Column::argument("words"),
    ];
    const ROWS: Rows = Rows::Few(100.0);
    type Cursor = Listed;

    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Listed, Unanswered> {
        let frames = stored.frames()?;
        let words = asked.text(WORDS).unwrap_or_default();
        let index = stored.text_index(&frames);
        let found = index.and_then(|index| index.find(&words))?;
        let rows = found.into_iter().map(|(ix, rank)| {
            let frame = frames.table.frame(ix);
            let line = match frame.line {
                0 => Value::Null,
                line => count(u64::from(line)),
            };
            let id = Hex::of(FrameId::from_frame(frame).0);
            let (symbol, file) = (known(frame.symbol), known(frame.file));
            let rank = Value::Real(rank);
            vec![
                known(id.as_str()),
                symbol,
                file,
                line,
                known(frame.module),
                rank,
            ]
        });
        Ok(Listed::new(rows.collect()))
    }
}
