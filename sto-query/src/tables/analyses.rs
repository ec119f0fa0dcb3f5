//! `find_regressions` and `potential`: results of analyses as rows.

use super::constraints::Constraints;
use super::stored::{QueryFailure, Stored};
use super::table::{
    Column, FIRST_ROW_COST, PrecomputedRows, RowEstimate, Table, count, text_or_null,
};
use crate::check::{Baseline, CheckRequest};
use crate::compare::Finding;
use crate::potential::Degree;
use crate::questions::PotentialRequest;
use rusqlite::types::Value;
use std::sync::Arc;

/// The `find_regressions` table.
pub(super) struct FindRegressions;
/// The `potential` table.
pub(super) struct Potential;

const BASELINE: usize = 14;
const CANDIDATE: usize = 15;

impl Table for FindRegressions {
    const NAME: &'static str = "find_regressions";
    const COLUMNS: &'static [Column] = &[
        Column::text("function"),
        Column::text("module"),
        Column::text("kind"),
        Column::text("benchmark"),
        Column::real("change"),
        Column::real("baseline_share"),
        Column::real("candidate_share"),
        Column::integer("baseline_samples"),
        Column::integer("candidate_samples"),
        Column::real("q"),
        Column::integer("weak"),
        Column::text("file"),
        Column::integer("line"),
        Column::text("reason"),
        Column::required_argument("baseline"),
        Column::required_argument("candidate"),
    ];
    const ROWS: RowEstimate = RowEstimate::Few(20.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let named = |column| stored.resolve_build(&asked.text(column).unwrap_or_default());
        let request = CheckRequest {
            baseline: Some(Baseline::Any(named(BASELINE)?)),
            candidate: named(CANDIDATE)?,
            ..CheckRequest::default()
        };
        let found = stored.ask(&request)?;
        let rows = found.comparisons.iter().flat_map(|comparison| {
            let benchmark = comparison.benchmark.as_deref();
            let findings = comparison.findings.iter();
            findings.map(move |finding| row(finding, benchmark.unwrap_or_default()))
        });
        Ok(PrecomputedRows::new(rows.collect()))
    }
}

fn row(finding: &Finding, benchmark: &str) -> Vec<Value> {
    let change = match finding.basis {
        crate::compare::Basis::AttributedSelf => &finding.attributed_self,
        _ => &finding.total,
    };
    let number = |number: Option<f64>| number.map_or(Value::Null, Value::Real);
    vec![
        text_or_null(&*finding.function),
        text_or_null(&*finding.module),
        text_or_null(finding.kind.name()),
        text_or_null(benchmark),
        number(change.change),
        Value::Real(change.baseline_share),
        Value::Real(change.candidate_share),
        count(change.baseline_samples),
        count(change.candidate_samples),
        number(change.q),
        Value::Integer(i64::from(finding.weak)),
        text_or_null(finding.file.clone().unwrap_or_default()),
        finding
            .line
            .map_or(Value::Null, |line| count(u64::from(line))),
        text_or_null(&*finding.reason),
    ]
}

const BUILD: usize = 5;
const DEGREE: usize = 6;

impl Table for Potential {
    const NAME: &'static str = "potential";
    const COLUMNS: &'static [Column] = &[
        Column::text("function"),
        Column::text("module"),
        Column::integer("potential"),
        Column::integer("self"),
        Column::integer("total"),
        Column::required_argument("build"),
        Column::optional_argument("n", "INTEGER"),
    ];
    const ROWS: RowEstimate = RowEstimate::Few(2_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = PrecomputedRows;

    fn rows(
        stored: &Arc<Stored>,
        asked: &Constraints<'_>,
    ) -> Result<PrecomputedRows, QueryFailure> {
        let degree = asked.integer(DEGREE).and_then(|n| u32::try_from(n).ok());
        let request = PotentialRequest {
            named: vec![stored.resolve_build(&asked.text(BUILD).unwrap_or_default())?],
            degree: degree.map_or_else(Degree::default, Degree),
            inlined: true,
            ..PotentialRequest::default()
        };
        let found = stored.ask(&request)?;
        let rows = found.functions.iter().map(|function| {
            vec![
                text_or_null(&*function.frame.function),
                text_or_null(&*function.frame.module),
                count(function.cost.value),
                count(function.self_cost.value),
                count(function.total.value),
            ]
        });
        Ok(PrecomputedRows::new(rows.collect()))
    }
}
