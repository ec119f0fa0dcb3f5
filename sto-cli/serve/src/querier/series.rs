//! Costs over time.

use super::labels::pairs;
use super::request::{Request, found};
use crate::problem::Problem;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_query::questions::CostOverTimeRequest;
use sto_query::results::CostPoint;
use sto_query::sources::{Context, Sources};

/// Longest step in seconds: a year.
const MAX_STEP: f64 = 366.0 * 86400.0;

pub(super) fn select(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    if !request.step.is_finite() || request.step <= 0.0 || request.step > MAX_STEP {
        return Err(Problem::bad_request(format!(
            "a step of {} s; expected a number above 0 of at most {MAX_STEP}",
            request.step
        )));
    }
    let none = json!({ "series": [] });
    let Some(selected) = request.select(sources, context)? else {
        return Ok(none);
    };
    let mut question = CostOverTimeRequest::default();
    question.runs = selected.runs;
    question.event = Some(selected.profile_type.event);
    question.group_by.clone_from(&request.group_by);
    question.step = request.step.ceil() as u64;
    let Some(costs) = found(sto_query::ask(sources, &question, context))? else {
        return Ok(none);
    };
    let by_samples = selected.profile_type.by_samples;
    let value = |point: &CostPoint| match point.cost.value {
        0 => point.cost.samples,
        _ if by_samples => point.cost.samples,
        value => value,
    };
    let mut series = costs.series;
    if let Ok(limit @ 1..) = usize::try_from(request.limit) {
        series.sort_by_cached_key(|series| {
            Reverse(
                series
                    .points
                    .iter()
                    .map(|point| u128::from(value(point)))
                    .sum::<u128>(),
            )
        });
        series.truncate(limit);
    }
    let series = series.iter().map(|series| {
        let points = series.points.iter().map(|point| {
            let milliseconds = point.time.0.saturating_mul(1000);
            json!({ "value": value(point) as f64, "timestamp": milliseconds })
        });
        let labels: &BTreeMap<_, _> = &series.labels;
        json!({ "labels": pairs(labels), "points": points.collect::<Vec<_>>() })
    });
    Ok(json!({ "series": series.collect::<Vec<_>>() }))
}
