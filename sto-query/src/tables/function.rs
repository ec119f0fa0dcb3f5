//! `function`: one row per function of the store. `function_cost`: its cost in a build.

use super::asked::Asked;
use super::ids::Hex;
use super::stored::{Stored, Unanswered};
use super::table::{Column, Found, Listed, READ, Rows, Table, count, known};
use rusqlite::types::Value;
use std::sync::Arc;

/// The `function` table.
pub(super) struct Function;
/// The `function_cost` table.
pub(super) struct FunctionCost;

impl Table for Function {
    const NAME: &'static str = "function";
    const COLUMNS: &'static [Column] = &[
        Column::text("function").finds(Found::Few(2.0)),
        Column::text("module"),
        Column::integer("frames"),
    ];
    const ROWS: Rows = Rows::Few(50_000.0);
    type Cursor = Listed;

    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Listed, Unanswered> {
        let frames = stored.frames()?;
        let functions = frames.functions();
        let mut counts = vec![0_u64; functions.numbers().len()];
        for &number in functions.numbers() {
            counts[number as usize] += 1;
        }
        let meant = functions.with_key(asked.text(0).as_deref()).into_iter();
        let rows = meant.map(|number| {
            let (function, module) = functions.name(number);
            vec![
                Value::Text(function.to_owned()),
                known(module),
                count(counts[number]),
            ]
        });
        Ok(Listed::new(rows.collect()))
    }
}

const BUILD: usize = 0;
const FUNCTION: usize = 1;
const EVENT: usize = 5;

impl Table for FunctionCost {
    const NAME: &'static str = "function_cost";
    const COLUMNS: &'static [Column] = &[
        Column::text("build").finds(Found::Build),
        Column::text("function").finds(Found::Few(100.0)),
        Column::text("module"),
        Column::integer("self"),
        Column::integer("total"),
        Column::text("event").finds(Found::Most),
        Column::integer("samples"),
        Column::integer("total_samples"),
    ];
    const ROWS: Rows = Rows::OfBuild(5_000.0);
    const START: f64 = READ;
    type Cursor = Listed;

    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Listed, Unanswered> {
        let mut rows = Vec::new();
        for build in stored.builds(asked.text(BUILD).as_deref())? {
            let tree = stored.tree(build)?;
            let functions = tree.functions();
            let meant = functions.with_key(asked.text(FUNCTION).as_deref());
            let types = tree.view.sample_types.iter().zip(tree.function_costs());
            for (sample_type, costs) in types.filter(|(of, _)| asked.takes(EVENT, &of.event)) {
                for &number in &meant {
                    let (own, total) = costs[number];
                    if total.is_zero() {
                        continue;
                    }
                    let (function, module) = functions.name(number);
                    rows.push(vec![
                        known(Hex::of(build.id.0).as_str()),
                        Value::Text(function.to_owned()),
                        known(module),
                        count(own.value),
                        count(total.value),
                        known(&*sample_type.event),
                        count(own.samples),
                        count(total.samples),
                    ]);
                }
            }
        }
        Ok(Listed::new(rows))
    }
}
