//! `stack_node_data`: one row per frame of the store.

use super::constraints::Constraints;
use super::ids::Hex;
use super::stored::{AllFrames, QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use std::sync::Arc;
use sto_core::model::FrameIx;

/// The `stack_node_data` table.
pub(super) struct StackNodeData;

const ID: usize = 0;
const FUNCTION: usize = 6;

impl Table for StackNodeData {
    const NAME: &'static str = "stack_node_data";
    const COLUMNS: &'static [Column] = &[
        Column::text("id").with_equality_index(MatchEstimate::Few(1.0)),
        Column::text("symbol"),
        Column::text("file"),
        Column::integer("line"),
        Column::text("module"),
        Column::text("kind"),
        Column::text("function").with_equality_index(MatchEstimate::Few(3.0)),
    ];
    const ROWS: RowEstimate = RowEstimate::Few(100_000.0);
    type Cursor = Frames;

    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<Frames, QueryFailure> {
        let frames = stored.frames()?;
        let all = 0..frames.table.len() as u32;
        let (mut listed, mut places) = (None, all);
        if let Some(id) = asked.text(ID) {
            places = frames.find(&id).map_or(0..0, |frame| frame.0..frame.0 + 1);
        } else if let Some(function) = asked.text(FUNCTION) {
            let found = listed.insert(frames.frames_of_function(&function));
            places = 0..found.len() as u32;
        }
        Ok(Frames {
            frames,
            listed,
            at: places.start,
            end: places.end,
        })
    }
}

/// Cursor over frames.
pub(super) struct Frames {
    frames: Arc<AllFrames>,
    /// Indices of the frames; `None` if they are consecutive.
    listed: Option<Vec<FrameIx>>,
    at: u32,
    end: u32,
}

impl Cursor for Frames {
    fn is_done(&self) -> bool {
        self.at >= self.end
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        self.at += 1;
        Ok(())
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let ix = match &self.listed {
            Some(listed) => listed[self.at as usize],
            None => FrameIx(self.at),
        };
        let frame = self.frames.table.frame(ix);
        match column {
            ID => cell.set_text(Hex::from_bytes(self.frames.id(ix).0).as_str()),
            1 => cell.set_text(frame.symbol),
            2 => cell.set_text_or_null(frame.file),
            3 if frame.line == 0 => cell.set_null(),
            3 => cell.set_count(u64::from(frame.line)),
            4 => cell.set_text_or_null(frame.module),
            5 => cell.set_text(frame.kind.name()),
            _ => cell.set_text(self.frames.function(ix)),
        }
    }
}
