//! `function`: one row per function of the store. `function_cost`: its cost in a build.

use super::constraints::Constraints;
use super::ids::Hex;
use super::stored::{QueryFailure, Stored};
use super::table::{
    Column, FIRST_ROW_COST, MatchEstimate, PrecomputedRows, RowEstimate, Table, count, text_or_null,
};
use rusqlite::types::Value;
use std::sync::Arc;

/// The `function` table.
pub(super) struct Function;
/// The `function_cost` table.
pub(super) struct FunctionCost;

impl Table for Function {
    const NAME: &'static str = "function";
    const COLUMNS: &'static [Column] = &[
        Column::text("function").with_equality_index(MatchEstimate::Few(2.0)),
        Column::text("module"),
        Column::integer("frames"),
    ];
    const ROWS: RowEstimate = RowEstimate::Few(50_000.0);
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let frames = stored.frames()?;
        let functions = frames.functions();
        let mut counts = vec![0_u64; functions.numbers().len()];
        for &number in functions.numbers() {
            counts[number as usize] += 1;
        }
        let meant = functions.find_by_key(asked.text(0).as_deref()).into_iter();
        let rows = meant.map(|number| {
            let (function, module) = functions.name(number);
            vec![
                Value::Text(function.to_owned()),
                text_or_null(module),
                count(counts[number]),
            ]
        });
        Ok(PrecomputedRows::new(rows.collect()))
    }
}

const BUILD: usize = 0;
const FUNCTION: usize = 1;
const EVENT: usize = 5;

impl Table for FunctionCost {
    const NAME: &'static str = "function_cost";
    const COLUMNS: &'static [Column] = &[
        Column::text("build").with_equality_index(MatchEstimate::Build),
        Column::text("function").with_equality_index(MatchEstimate::Few(100.0)),
        Column::text("module"),
        Column::integer("self"),
        Column::integer("total"),
        Column::text("event").with_equality_index(MatchEstimate::Most),
        Column::integer("samples"),
        Column::integer("total_samples"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfBuild(5_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let mut rows = Vec::new();
        for build in stored.builds(asked.text(BUILD).as_deref())? {
            let tree = stored.tree(build)?;
            let functions = tree.functions();
            let meant = functions.find_by_key(asked.text(FUNCTION).as_deref());
            let types = tree.view.sample_types.iter().zip(tree.function_costs());
            for (sample_type, costs) in types.filter(|(of, _)| asked.may_equal(EVENT, &of.event)) {
                for &number in &meant {
                    let (own, total) = costs[number];
                    if total.is_zero() {
                        continue;
                    }
                    let (function, module) = functions.name(number);
                    rows.push(vec![
                        text_or_null(Hex::from_bytes(build.id.0).as_str()),
                        Value::Text(function.to_owned()),
                        text_or_null(module),
                        count(own.value),
                        count(total.value),
                        text_or_null(&*sample_type.event),
                        count(own.samples),
                        count(total.samples),
                    ]);
                }
            }
        }
        Ok(PrecomputedRows::new(rows))
    }
}
