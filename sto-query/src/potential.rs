//! Potentials: the maximum saving if a function, or a function with its callees, took no time.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), chapter 5. Their *code path
//! potential* is the potential of degree 0, their *subtree potential* is the potential of degree n with the correction
//! for recursion.
//!
//! See [the manual](crate::manual::potential).

use crate::answer::{Answer, truncate};
use crate::functions::KeyOptions;
use crate::tree::{CostShare, FrameInfo, Subject, View, function_numbers, functions};
use serde::{Deserialize, Serialize};
use std::borrow::{Borrow, Cow};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_core::units::Cost;

/// Number of call levels below a function that its potential includes; 0 is only the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Degree(pub u32);

impl Default for Degree {
    fn default() -> Degree {
        Degree(3)
    }
}

/// Returns the potential of every function of a view in one sample type, by [function
/// number](crate::tree::function_numbers).
///
/// The potential of degree n of a function is the self cost of all nodes that are at most n calls below a node of
/// that function. This is the union of these nodes, so a node between two calls of a recursion counts once, and no
/// potential exceeds the total. The published formula sums p_n, the self cost of the n levels below each node, and
/// subtracts c_n, the part that the n levels below a node share with those below the next node of its function
/// further down. The result is the same, because of k nodes of the function above a node, k - 1 have such a next one.
/// This implementation adds each node's self cost once to each distinct function among its n + 1 innermost frames,
/// which needs neither p nor c.
pub fn potentials(view: &View, sample_type: usize, degree: Degree) -> Vec<Cost> {
    let function_of = function_numbers(view);
    let count = function_of
        .iter()
        .max()
        .map_or(0, |&last| last as usize + 1);
    let self_costs = view.self_costs(sample_type);
    let mut potentials = vec![Cost::ZERO; count];
    // The node whose cost was last added to each function.
    let mut given = vec![u32::MAX; count];
    // Functions on the stack of the current node, root first.
    let mut stack: Vec<u32> = Vec::new();
    let mut depths: Vec<u32> = Vec::with_capacity(view.tree.len());
    for node in view.tree.nodes() {
        let parent = view.tree.parent(node);
        let depth = parent.map_or(0, |parent| depths[parent.get()] + 1);
        depths.push(depth);
        stack.truncate(depth as usize);
        stack.push(function_of[view.tree.frame(node).get()]);

        let cost = self_costs[node.get()];
        if cost.is_zero() {
            continue;
        }
        let outermost = depth.saturating_sub(degree.0) as usize;
        for &function in &stack[outermost..] {
            let given = &mut given[function as usize];
            if *given != node.0 {
                *given = node.0;
                potentials[function as usize] += cost;
            }
        }
    }
    potentials
}

/// The functions with the largest potential.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Potentials {
    /// Selected profiles, one entry per selector, in the given order.
    pub selections: Vec<Subject>,
    /// Number of samples in all selections.
    pub samples: u64,
    /// Total value in the sample type's unit.
    pub value: u64,
    /// Number of call levels that the potential includes; 0 is only the function.
    pub degree: u32,
    /// Whether inlined code counts for the function that contains it.
    pub with_inlined: bool,
    /// The functions: highest potential first, then highest self cost, equal ones by module and name.
    pub functions: Vec<FunctionPotential>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

impl Answer for Potentials {
    const SCHEMA: &'static str = "sto.potential/1";
}

/// Potential of a function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionPotential {
    /// A frame that represents the function.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Potential as a share of the total, from 0 to 1.
    pub potential: f64,
    /// Potential as a cost.
    pub cost: CostShare,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Total cost, with recursion counted once.
    pub total: CostShare,
}

#[derive(Clone, Default)]
struct Costs {
    potential: Cost,
    self_cost: Cost,
    total: Cost,
}

/// Lists at most `limit` functions with the largest potential in several views. The views' costs in the sample type
/// with this index are summed; with several views, functions that `matching` treats as equal are merged and named by
/// their keys.
pub fn potential(
    views: &[impl Borrow<View>],
    matching: KeyOptions,
    sample_type: usize,
    degree: Degree,
    limit: Option<usize>,
) -> Potentials {
    let mut selections = Vec::new();
    let mut whole = Cost::ZERO;
    let mut by_name: BTreeMap<(String, String), (FrameInfo, Costs)> = BTreeMap::new();
    for view in views.iter().map(Borrow::borrow) {
        let view = match views.len() {
            1 => Cow::Borrowed(view),
            _ => Cow::Owned(view.with_function_keys(matching)),
        };
        let view = &*view;
        let numbers = function_numbers(view);
        let potentials = potentials(view, sample_type, degree);
        let mut view_whole = Cost::ZERO;
        for function in functions(view, sample_type) {
            let frame = FrameInfo::from(view.frames.frame(function.frame));
            let key = (frame.module.clone(), frame.function.clone());
            let (_, costs) = by_name
                .entry(key)
                .or_insert_with(|| (frame, Costs::default()));
            costs.potential += potentials[numbers[function.frame.get()] as usize];
            costs.self_cost += function.self_cost;
            costs.total += function.total;
            view_whole += function.self_cost;
        }
        selections.push(Subject::with_whole(view, sample_type, view_whole));
        whole += view_whole;
    }
    let mut functions: Vec<(FrameInfo, Costs)> = by_name.into_values().collect();
    // The sort is stable, so equal ones stay in the order of module and name.
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
    let omitted = truncate(&mut functions, limit);
    Potentials {
        selections,
        samples: whole.samples,
        value: whole.value,
        degree: degree.0,
        with_inlined: views.iter().any(|view| view.borrow().is_without_inlined()),
        functions: functions
            .into_iter()
            .map(|(frame, costs)| {
                let cost = CostShare::new(costs.potential, whole);
                FunctionPotential {
                    frame,
                    potential: cost.share,
                    cost,
                    self_cost: CostShare::new(costs.self_cost, whole),
                    total: CostShare::new(costs.total, whole),
                }
            })
            .collect(),
        omitted,
    }
}
