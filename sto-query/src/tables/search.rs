//! `search`: full-text search of frames.

use super::constraints::Constraints;
use super::ids::Hex;
use super::stored::{QueryFailure, Stored};
use super::table::{Column, PrecomputedRows, RowEstimate, Table, count, text_or_null};
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
        Column::required_argument("words"),
    ];
    const ROWS: RowEstimate = RowEstimate::Few(100.0);
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
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
            let id = Hex::from_bytes(FrameId::from_frame(frame).0);
            let (symbol, file) = (text_or_null(frame.symbol), text_or_null(frame.file));
            let rank = Value::Real(rank);
            vec![
                text_or_null(id.as_str()),
                symbol,
                file,
                line,
                text_or_null(frame.module),
                rank,
            ]
        });
        Ok(PrecomputedRows::new(rows.collect()))
    }
}
