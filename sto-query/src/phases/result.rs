//! Phases of a run as plain data.

use super::find::{CostOverTime, PhaseBorders, borders};
use crate::answer::{Answer, truncate};
use crate::timeline::RunOverTime;
use crate::tree::{CostShare, FrameInfo, Subject, View, function_numbers, functions, sum_costs};
use serde::Serialize;
use sto_core::model::FrameIx;
use sto_core::tree::NodeIx;
use sto_core::units::{Cost, Nanoseconds};

/// Maximum number of functions listed for a phase, and for a change in each direction.
const FUNCTIONS: usize = 3;
/// Minimum change of a function's share to be listed.
const MIN_DIFFERENCE: f64 = 0.02;
/// A function represents its callers if its share changed by at least this fraction of theirs.
const STANDS_FOR: f64 = 0.9;

/// The phases of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Phases {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// Duration in nanoseconds.
    pub duration: Nanoseconds,
    /// Precision of the borders of phases, in nanoseconds.
    pub resolution: Nanoseconds,
    /// The repetition; `null` if the run does not repeat.
    pub cycle: Option<Cycle>,
    /// The phases in order; only one if nothing changes.
    pub phases: Vec<Phase>,
    /// Number of phases that a limit left out.
    pub omitted: usize,
}

impl Answer for Phases {
    const SCHEMA: &'static str = "sto.phases/1";
}

/// Repetition in a run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Cycle {
    /// Duration of a repetition in nanoseconds.
    pub period: Nanoseconds,
    /// Number of repetitions.
    pub cycles: f64,
    /// Functions that differ between the two parts of a cycle; `before` refers to the other part.
    pub changes: Vec<PhaseChange>,
}

/// A part of a run with constant composition of cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Phase {
    /// Number of the phase, from 1.
    pub number: usize,
    /// Start in nanoseconds since the run's first sample.
    pub from: Nanoseconds,
    /// End in nanoseconds since the run's first sample.
    pub to: Nanoseconds,
    /// Cost of the phase, as a share of the run.
    pub cost: CostShare,
    /// Functions with the highest self cost in the phase.
    pub functions: Vec<PhaseFunction>,
    /// Differences from the previous phase in total cost: functions that grew, then functions that shrank.
    pub changes: Vec<PhaseChange>,
}

/// A function in a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PhaseFunction {
    /// A frame that represents the function.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Self cost, as a share of the phase.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Total cost, as a share of the phase.
    pub total: CostShare,
}

/// A function whose share differs between two parts of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PhaseChange {
    /// A frame that represents the function.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Share of its total cost before, from 0 to 1.
    pub before: f64,
    /// Share of its total cost after.
    pub after: f64,
}

/// Returns the borders of phases in a complete run with inlined frames.
pub(crate) fn borders_of(run: &RunOverTime, sample_type: usize) -> PhaseBorders {
    let costs = run.costs(sample_type).iter();
    borders(&CostOverTime {
        tree: &run.view.tree,
        grid: run.slices(),
        samples: costs
            .map(|cost| (cost.slice.0, cost.node, cost.cost.samples))
            .collect(),
    })
}

/// Finds the phases of a run in one sample type.
pub(crate) fn phases(run: RunOverTime, sample_type: usize, limit: Option<usize>) -> Phases {
    let found = borders_of(&run, sample_type);
    let run = run.without_inlined();
    let grid = run.slices();
    let functions = Functions::new(&run.view, sample_type);
    let of_slices = |is_in: &dyn Fn(u32) -> bool| {
        let costs = run
            .costs(sample_type)
            .iter()
            .filter(|cost| is_in(cost.slice.0));
        functions.costs(&run.view, costs.map(|cost| (cost.node, cost.cost)))
    };
    let whole: Cost = run.view.self_costs(sample_type).into_iter().sum();
    let parts = found.slices.windows(2);
    let parts: Vec<(u32, u32, Costs)> = parts
        .map(|part| {
            let (from, to) = (part[0], part[1]);
            (from, to, of_slices(&|slice| (from..to).contains(&slice)))
        })
        .collect();
    let mut phases: Vec<Phase> = parts
        .iter()
        .enumerate()
        .map(|(ix, (from, to, costs))| Phase {
            number: ix + 1,
            from: grid.slice_start(*from),
            to: grid.slice_start(*to),
            cost: CostShare::new(costs.all, whole),
            functions: functions.most_expensive(&run.view, costs),
            changes: match ix.checked_sub(1) {
                Some(before) => functions.changes(&run.view, [&parts[before].2, costs]),
                None => Vec::new(),
            },
        })
        .collect();
    let cycle = found.period.map(|(period, sides)| {
        let [one, other] =
            [true, false].map(|side| of_slices(&|slice| sides[slice as usize] == side));
        Cycle {
            period,
            cycles: grid.duration().0 as f64 / period.0.max(1) as f64,
            changes: functions.changes(&run.view, [&other, &one]),
        }
    });
    Phases {
        subject: Subject::new(&run.view, sample_type),
        runs: run.runs,
        duration: grid.duration(),
        resolution: found.stretch,
        cycle,
        omitted: truncate(&mut phases, limit),
        phases,
    }
}

/// Functions of a run.
struct Functions {
    /// Function of each frame.
    number_of: Vec<u32>,
    /// A frame on a stack for each function.
    frames: Vec<Option<FrameIx>>,
    /// Number of callers of each function's outermost call.
    depths: Vec<u32>,
}

/// Self and total cost by function in a part of a run.
struct Costs {
    by: Vec<(Cost, Cost)>,
    all: Cost,
}

impl Functions {
    fn new(view: &View, sample_type: usize) -> Functions {
        let number_of = function_numbers(view);
        let count = number_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut frames = vec![None; count];
        for function in functions(view, sample_type) {
            frames[number_of[function.frame.get()] as usize] = Some(function.frame);
        }
        let mut depths = vec![u32::MAX; count];
        let mut of_nodes: Vec<u32> = Vec::with_capacity(view.tree.len());
        for node in view.tree.nodes() {
            let depth = view
                .tree
                .parent(node)
                .map_or(0, |parent| of_nodes[parent.get()] + 1);
            of_nodes.push(depth);
            let function = &mut depths[number_of[view.tree.frame(node).get()] as usize];
            *function = depth.min(*function);
        }
        Functions {
            number_of,
            frames,
            depths,
        }
    }

    fn costs(&self, view: &View, costs: impl Iterator<Item = (NodeIx, Cost)>) -> Costs {
        let mut of_nodes = vec![Cost::ZERO; view.tree.len()];
        let mut all = Cost::ZERO;
        for (node, cost) in costs {
            of_nodes[node.get()] += cost;
            all += cost;
        }
        Costs {
            by: sum_costs(view, &of_nodes, &self.number_of),
            all,
        }
    }

    fn most_expensive(&self, view: &View, costs: &Costs) -> Vec<PhaseFunction> {
        let known = self.frames.iter().enumerate();
        let known = known.filter_map(|(ix, frame)| Some((ix, (*frame)?)));
        let mut known: Vec<(usize, FrameIx)> =
            known.filter(|&(ix, _)| !costs.by[ix].0.is_zero()).collect();
        let order = |&(ix, _): &(usize, FrameIx)| {
            let (own, total) = costs.by[ix];
            std::cmp::Reverse((own.value, own.samples, total.value, total.samples))
        };
        known.sort_by_key(order);
        known.truncate(FUNCTIONS);
        let function = |(ix, frame): (usize, FrameIx)| PhaseFunction {
            frame: view.frames.frame(frame).into(),
            self_cost: CostShare::new(costs.by[ix].0, costs.all),
            total: CostShare::new(costs.by[ix].1, costs.all),
        };
        known.into_iter().map(function).collect()
    }

    /// Returns the functions that differ most in total cost, those that grew first. Of functions that call each
    /// other, the innermost one that explains nearly all of the change represents the others.
    fn changes(&self, view: &View, [before, after]: [&Costs; 2]) -> Vec<PhaseChange> {
        let share = |costs: &Costs, ix: usize| crate::tree::share(costs.by[ix].1, costs.all);
        let change = |ix: usize| share(after, ix) - share(before, ix);
        let mut listed = Vec::new();
        for direction in [1.0, -1.0] {
            let mut left: Vec<usize> = (0..self.frames.len())
                .filter(|&ix| self.frames[ix].is_some() && direction * change(ix) >= MIN_DIFFERENCE)
                .collect();
            let size = |ix: usize| direction * change(ix);
            for _ in 0..FUNCTIONS {
                let largest = |&a: &usize, &b: &usize| size(a).total_cmp(&size(b)).then(b.cmp(&a));
                let Some(largest) = left.iter().copied().max_by(largest) else {
                    break;
                };
                let below = self.related(view, largest, Direction::Callees);
                let near = left.iter().copied();
                let near = near.filter(|&ix| below[ix] && size(ix) >= STANDS_FOR * size(largest));
                let chosen = near.max_by_key(|&ix| (self.depths[ix], std::cmp::Reverse(ix)));
                let chosen = chosen.unwrap_or(largest);
                let callers = self.related(view, chosen, Direction::Callers);
                left.retain(|&ix| !callers[ix] && ix != chosen);
                if let Some(frame) = self.frames[chosen] {
                    listed.push(PhaseChange {
                        frame: view.frames.frame(frame).into(),
                        before: share(before, chosen),
                        after: share(after, chosen),
                    });
                }
            }
        }
        listed
    }

    /// Returns for each function whether it is above or below this one on a stack.
    fn related(&self, view: &View, function: usize, direction: Direction) -> Vec<bool> {
        let tree = &view.tree;
        let number = |node: NodeIx| self.number_of[tree.frame(node).get()] as usize;
        let mut is_related = vec![false; tree.len()];
        let mut functions = vec![false; self.frames.len()];
        let is_it = |node: NodeIx| number(node) == function;
        match direction {
            Direction::Callees => {
                for node in tree.nodes() {
                    let parent = tree.parent(node);
                    is_related[node.get()] =
                        parent.is_some_and(|parent| is_related[parent.get()] || is_it(parent));
                }
            }
            Direction::Callers => {
                for node in tree.nodes().rev() {
                    if (is_related[node.get()] || is_it(node))
                        && let Some(parent) = tree.parent(node)
                    {
                        is_related[parent.get()] = true;
                    }
                }
            }
        }
        for node in tree.nodes().filter(|node| is_related[node.get()]) {
            functions[number(node)] = true;
        }
        functions
    }
}

/// Direction from a function.
#[derive(Clone, Copy)]
enum Direction {
    Callers,
    Callees,
}
