//! `function_sample`: one row per function, run and event.

use super::constraints::Constraints;
use super::sample::{Part, Parts, Read, Wanted};
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, FIRST_ROW_COST, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use std::sync::Arc;
use std::vec::IntoIter;
use sto_core::tree::for_each_total;
use sto_core::units::Cost;

/// The `function_sample` table.
pub(super) struct FunctionSample;

const PROFILE: usize = 0;
const FUNCTION: usize = 1;
const MODULE: usize = 2;
const SELF: usize = 3;
const TOTAL: usize = 4;
const EVENT: usize = 5;
const SAMPLES: usize = 6;
const TOTAL_SAMPLES: usize = 7;
const EXECUTABLE: usize = 8;

impl Table for FunctionSample {
    const NAME: &'static str = "function_sample";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").with_equality_index(MatchEstimate::Run),
        Column::text("function").with_equality_index(MatchEstimate::Few(100.0)),
        Column::text("module"),
        Column::integer("self"),
        Column::integer("total"),
        Column::text("event").with_equality_index(MatchEstimate::Most),
        Column::integer("samples"),
        Column::integer("total_samples"),
        Column::text("executable_id").with_equality_index(MatchEstimate::Build),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(2_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = FunctionSamples;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<FunctionSamples, QueryFailure> {
        let runs = stored.runs(
            asked.text(PROFILE).as_deref(),
            asked.text(EXECUTABLE).as_deref(),
        )?;
        let event = asked.text(EVENT);
        let wanted = Wanted::default();
        let mut samples = FunctionSamples {
            parts: Parts::new(stored.snapshot()?, &runs, event.as_deref(), wanted),
            function: asked.text(FUNCTION).map(|function| function.into_owned()),
            rows: Vec::new().into_iter(),
            row: None,
        };
        samples.advance()?;
        Ok(samples)
    }
}

/// A function with its self and total cost.
type Row = (usize, Cost, Cost);

/// Cursor over the functions of several runs and events.
pub(super) struct FunctionSamples {
    parts: Parts,
    /// The only requested function, if one is requested.
    function: Option<String>,
    /// Remaining rows of the part, and the current one.
    rows: IntoIter<Row>,
    row: Option<Row>,
}

/// Returns the functions with a cost, and their costs; recursive calls count once.
fn rows(read: &Read, part: &Part, function: Option<&str>) -> Vec<Row> {
    let numbers = read.functions().numbers();
    let mut costs = vec![(Cost::ZERO, Cost::ZERO); numbers.len()];
    for_each_total(&read.tree, &part.costs, |node, own, total| {
        let (of_own, of_total) = &mut costs[numbers[read.tree.frame(node).get()] as usize];
        *of_own += own;
        if read.is_outermost(node) {
            *of_total += total;
        }
    });
    let meant = read.functions().find_by_key(function).into_iter();
    let rows = meant.map(|number| (number, costs[number].0, costs[number].1));
    rows.filter(|(_, _, total)| !total.is_zero()).collect()
}

impl Cursor for FunctionSamples {
    fn is_done(&self) -> bool {
        self.row.is_none()
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        self.row = self.rows.next();
        while self.row.is_none() {
            let Some((read, part)) = self.parts.advance()? else {
                return Ok(());
            };
            self.rows = rows(read, part, self.function.as_deref()).into_iter();
            self.row = self.rows.next();
        }
        Ok(())
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let (Some((read, part)), Some((number, own, total))) = (self.parts.current(), self.row)
        else {
            return cell.set_null();
        };
        let (function, module) = read.functions().name(number);
        match column {
            PROFILE => cell.set_text(part.profile.as_str()),
            FUNCTION => cell.set_text(function),
            MODULE => cell.set_text_or_null(module),
            SELF => cell.set_count(own.value),
            TOTAL => cell.set_count(total.value),
            EVENT => cell.set_text(&part.event.event),
            SAMPLES => cell.set_count(own.samples),
            TOTAL_SAMPLES => cell.set_count(total.samples),
            EXECUTABLE => cell.set_text(read.build.as_str()),
            _ => cell.set_null(),
        }
    }
}
