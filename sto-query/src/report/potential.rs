//! The functions that could save most.

use super::limit::limited;
use super::{CostReport, FrameReport, Subject};
use crate::functions::KeyOptions;
use crate::potential::{Degree, potentials};
use crate::tree::{View, function_numbers, functions};
use serde::Serialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_core::units::Cost;

/// The functions that could save most; schema `sto.potential/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PotentialReport {
    /// `sto.potential/1`.
    pub schema: &'static str,
    /// What it is about: one entry a selector, in the order they were given.
    pub selections: Vec<Subject>,
    /// Samples of all selections.
    pub samples: u64,
    /// Their value, in the sample type's unit.
    pub value: u64,
    /// How many calls below a function its potential reaches; 0 is the function alone.
    pub degree: u32,
    /// Whether code that was inlined counts for the function that it was compiled into.
    pub with_inlined: bool,
    /// The functions: highest potential first, then highest self, equals by module and name.
    pub functions: Vec<FunctionPotential>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

/// What one function could save.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionPotential {
    /// The frame that stands for the function.
    #[serde(flatten)]
    pub frame: FrameReport,
    /// Its potential as a share of everything, from 0 to 1.
    pub potential: f64,
    /// The cost that is its potential.
    pub cost: CostReport,
    /// Cost of the samples that ended in it.
    #[serde(rename = "self")]
    pub self_cost: CostReport,
    /// Cost of the samples whose stack has it, however often.
    pub total: CostReport,
}

#[derive(Clone, Default)]
struct Costs {
    potential: Cost,
    self_cost: Cost,
    total: Cost,
}

/// Lists the functions of several views that could save most, at most `limit` of them. The views'
/// costs in the sample type at this place of each are added up; of several views, functions are those
/// that `matching` makes one, and have their keys as names.
pub fn potential(
    views: &[View],
    matching: KeyOptions,
    sample_type: usize,
    degree: Degree,
    limit: Option<usize>,
) -> PotentialReport {
    let mut selections = Vec::new();
    let mut whole = Cost::ZERO;
    let mut by_name: BTreeMap<(String, String), (FrameReport, Costs)> = BTreeMap::new();
    for view in views {
        let view = match views.len() {
            1 => Cow::Borrowed(view),
            _ => Cow::Owned(view.matched(matching)),
        };
        let view = &*view;
        let numbers = function_numbers(view);
        let potentials = potentials(view, sample_type, degree);
        let mut view_whole = Cost::ZERO;
        for function in functions(view, sample_type) {
            let frame = FrameReport::from(view.frames.frame(function.frame));
            let key = (frame.module.clone(), frame.function.clone());
            let (_, costs) = by_name
                .entry(key)
                .or_insert_with(|| (frame, Costs::default()));
            costs.potential += potentials[numbers[function.frame.get()] as usize];
            costs.self_cost += function.self_cost;
            costs.total += function.total;
            view_whole += function.self_cost;
        }
        selections.push(Subject::new(view, sample_type, view_whole));
        whole += view_whole;
    }
    let mut functions: Vec<(FrameReport, Costs)> = by_name.into_values().collect();
    // Stable: they come in the order of module and name, and equals stay so.
    functions.sort_by_key(|(_, costs)| {
        let Costs {
            potential,
            self_cost,
            ..
        } = costs;
        Reverse((
            potential.value,
            potential.samples,
            self_cost.value,
            self_cost.samples,
        ))
    });
    let omitted = limited(&mut functions, limit);
    PotentialReport {
        schema: "sto.potential/1",
        selections,
        samples: whole.samples,
        value: whole.value,
        degree: degree.0,
        with_inlined: views.iter().any(View::is_without_inlined),
        functions: functions
            .into_iter()
            .map(|(frame, costs)| {
                let cost = CostReport::new(costs.potential, whole);
                FunctionPotential {
                    frame,
                    potential: cost.share,
                    cost,
                    self_cost: CostReport::new(costs.self_cost, whole),
                    total: CostReport::new(costs.total, whole),
                }
            })
            .collect(),
        omitted,
    }
}
