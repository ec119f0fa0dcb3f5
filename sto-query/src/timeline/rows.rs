//! Rows of a timeline: costs by slice of functions, threads, modules, or values of a label.

use super::{RunOverTime, TimelineError};
use crate::select::full_name;
use crate::tree::{
    Order, RootsError, ThreadNames, function_numbers, functions, label_name, sum_costs,
    thread_name, unknown_label,
};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::str::FromStr;
use sto_core::model::{FrameIx, FrameKind, SampleLabel, StringIx};
use sto_core::tree::{StackTree, distinct_label_sets};
use sto_core::units::Cost;

/// Grouping of costs into rows. Written as `function`, `thread`, `module` or `label:KEY`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum RowsBy {
    /// By symbol and module.
    #[default]
    Function,
    /// By thread.
    Thread,
    /// By the file that code was loaded from.
    Module,
    /// By the value of the label with this key, of samples or of the run.
    Label(String),
}

impl FromStr for RowsBy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<RowsBy, &'static str> {
        match (text, text.strip_prefix("label:")) {
            ("function", _) => Ok(RowsBy::Function),
            ("thread", _) => Ok(RowsBy::Thread),
            ("module", _) => Ok(RowsBy::Module),
            (_, Some(key)) if !key.is_empty() => Ok(RowsBy::Label(key.to_owned())),
            _ => Err("expected `function`, `thread`, `module` or `label:KEY`"),
        }
    }
}

impl TryFrom<String> for RowsBy {
    type Error = &'static str;

    fn try_from(text: String) -> Result<RowsBy, &'static str> {
        text.parse()
    }
}

impl From<RowsBy> for String {
    fn from(by: RowsBy) -> String {
        match by {
            RowsBy::Function => "function".to_owned(),
            RowsBy::Thread => "thread".to_owned(),
            RowsBy::Module => "module".to_owned(),
            RowsBy::Label(key) => format!("label:{key}"),
        }
    }
}

/// Name of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RowName {
    /// The function's symbol, the thread with its id, the module, or `KEY=VALUE`.
    pub name: String,
    /// For a function, the file that its code was loaded from; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// For a function, the kind of its frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<FrameKind>,
}

/// Costs by row and slice of the run; most expensive rows first, equal ones by module and name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rows {
    /// Names of the rows.
    pub names: Vec<RowName>,
    /// Total costs of the rows.
    pub costs: Vec<Cost>,
    /// Number of further rows with a cost that were left out.
    pub omitted: usize,
    slices: usize,
    cells: Vec<f64>,
}

/// Marks a cost without a row.
pub(super) const NONE: u32 = u32::MAX;

/// Assignment of costs to rows, by the frames of the stack or by context.
pub(super) enum RowAssignment {
    Frame(Vec<u32>),
    Context(Vec<u32>),
}

impl Rows {
    /// Returns the costs of a row in each slice of the run: values, or samples if nothing has a value.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.slices..][..self.slices]
    }
}

impl RunOverTime {
    /// Returns the most expensive rows, at most `limit`. A total counts each stack once per function or module on it;
    /// for threads and labels it equals self cost.
    ///
    /// # Errors
    ///
    /// Returns an error if no sample has a thread, or if neither a sample nor the run has the label.
    pub fn rows(
        &self,
        sample_type: usize,
        by: &RowsBy,
        order: Order,
        limit: Option<usize>,
    ) -> Result<Rows, TimelineError> {
        let (mut named, number_of) = match by {
            RowsBy::Function => self.functions(sample_type, order),
            RowsBy::Module => self.modules(sample_type, order),
            RowsBy::Thread => self.threads(sample_type)?,
            RowsBy::Label(key) => self.labels(sample_type, key)?,
        };
        named.retain(|named| !named.cost.is_zero());
        named.sort_by(|a, b| {
            let cost = |named: &Named| Reverse((named.cost.value, named.cost.samples));
            let [one, other] = [a, b].map(|named| (&named.name.module, &named.name.name));
            cost(a).cmp(&cost(b)).then_with(|| one.cmp(&other))
        });
        let kept = named.len().min(limit.unwrap_or(usize::MAX));
        let omitted = named.len() - kept;
        named.truncate(kept);
        let mut row_of_number: HashMap<u32, u32> = HashMap::with_capacity(kept);
        for (row, named) in (0..).zip(&named) {
            row_of_number.insert(named.number, row);
        }
        let row = |number: u32| row_of_number.get(&number).copied().unwrap_or(NONE);
        let row_of = match number_of {
            RowAssignment::Frame(numbers) => {
                RowAssignment::Frame(numbers.into_iter().map(row).collect())
            }
            RowAssignment::Context(numbers) => {
                RowAssignment::Context(numbers.into_iter().map(row).collect())
            }
        };
        let cells = self.cells(sample_type, &row_of, order, kept);
        let (names, costs) = named.into_iter().map(|n| (n.name, n.cost)).unzip();
        Ok(Rows {
            names,
            costs,
            omitted,
            slices: self.grid().count(),
            cells,
        })
    }

    /// Returns costs by row and slice, one row after another.
    pub(super) fn cells(
        &self,
        sample_type: usize,
        row_of: &RowAssignment,
        order: Order,
        rows: usize,
    ) -> Vec<f64> {
        let slices = self.grid().count();
        let counted = self.cost_number(sample_type);
        let first = self.taken.start;
        let mut cells = vec![0.0; rows * slices];
        let mut add = |row: u32, slice: u32, cost| {
            if row != NONE {
                cells[row as usize * slices + (slice - first) as usize] += counted(cost);
            }
        };
        match row_of {
            RowAssignment::Context(rows) => {
                for cost in self.costs(sample_type) {
                    add(rows[cost.context.0 as usize], cost.slice.0, cost.cost);
                }
            }
            RowAssignment::Frame(row_of) if order == Order::SelfCost => {
                let frames = self.view.tree.frames();
                for cost in self.costs(sample_type) {
                    let frame = frames[cost.node.get()];
                    add(row_of[frame.get()], cost.slice.0, cost.cost);
                }
            }
            RowAssignment::Frame(row_of) => {
                let chains = Chains::new(&self.view.tree, row_of, rows);
                for cost in self.costs(sample_type) {
                    for row in chains.rows(cost.node.0) {
                        add(row, cost.slice.0, cost.cost);
                    }
                }
            }
        }
        cells
    }

    fn functions(&self, sample_type: usize, order: Order) -> (Vec<Named>, RowAssignment) {
        let numbers = function_numbers(&self.view);
        let functions = functions(&self.view, sample_type);
        let named = functions.into_iter().map(|function| {
            let frame = self.view.frames.frame(function.frame);
            Named {
                number: numbers[function.frame.get()],
                name: RowName {
                    name: frame.symbol.to_owned(),
                    module: Some(frame.module.to_owned()),
                    kind: Some(frame.kind),
                },
                cost: match order {
                    Order::SelfCost => function.self_cost,
                    Order::Total => function.total,
                },
            }
        });
        (named.collect(), RowAssignment::Frame(numbers))
    }

    fn modules(&self, sample_type: usize, order: Order) -> (Vec<Named>, RowAssignment) {
        let (modules, numbers) = self.module_numbers();
        let self_costs = self.view.self_costs(sample_type);
        let costs = sum_costs(&self.view, &self_costs, &numbers);
        let costs = costs.into_iter().map(|(own, total)| match order {
            Order::SelfCost => own,
            Order::Total => total,
        });
        let named = (0..).zip(modules).zip(costs);
        let named = named.map(|((number, module), cost)| Named {
            number,
            name: RowName::new(self.view.frames.string(module)),
            cost,
        });
        (named.collect(), RowAssignment::Frame(numbers))
    }

    /// Returns the modules, and the index of each frame's module.
    pub(super) fn module_numbers(&self) -> (Vec<StringIx>, Vec<u32>) {
        let frames = &self.view.frames;
        let mut modules = Vec::new();
        let mut known: HashMap<StringIx, u32> = HashMap::new();
        let number = |frame: FrameIx| {
            let (_, module, _) = frames.string_indices(frame);
            *known.entry(module).or_insert_with(|| {
                modules.push(module);
                modules.len() as u32 - 1
            })
        };
        let numbers = frames.iter().map(|(frame, _)| frame).map(number).collect();
        (modules, numbers)
    }

    fn threads(&self, sample_type: usize) -> Result<(Vec<Named>, RowAssignment), TimelineError> {
        let threads = || self.contexts().iter().map(|context| &context.thread);
        if threads().all(|thread| thread.tid == 0 && thread.name.is_empty()) {
            let build = full_name(&self.view.selection.build);
            return Err(RootsError::UntoldThreads { build }.into());
        }
        let names = threads().map(|thread| thread_name(thread, ThreadNames::NameAndId).into());
        Ok(self.contexts_by(sample_type, names))
    }

    fn labels(
        &self,
        sample_type: usize,
        key: &str,
    ) -> Result<(Vec<Named>, RowAssignment), TimelineError> {
        let of_run = &self.view.selection.profiles[0].profile.labels;
        let sets = || distinct_label_sets(self.contexts());
        let has_key = |label: &SampleLabel| label.key == key;
        if !of_run.contains_key(key) && !sets().flatten().any(has_key) {
            let known: BTreeSet<String> = of_run.keys().cloned().collect();
            let of_samples = sets().flatten().map(|label| label.key.clone());
            let known = known.into_iter().chain(of_samples).collect();
            let build = full_name(&self.view.selection.build);
            return Err(unknown_label(build, key, known).into());
        }
        let of_run = of_run.get(key).map_or("", String::as_str);
        let names: HashMap<*const SampleLabel, Rc<str>> = sets()
            .map(|labels| (labels.as_ptr(), label_name(key, labels, of_run)))
            .collect();
        let names = self
            .contexts()
            .iter()
            .map(|c| names[&c.labels.as_ptr()].clone());
        Ok(self.contexts_by(sample_type, names))
    }

    /// Groups contexts by name.
    fn contexts_by(
        &self,
        sample_type: usize,
        names: impl Iterator<Item = Rc<str>>,
    ) -> (Vec<Named>, RowAssignment) {
        let mut known: HashMap<Rc<str>, u32> = HashMap::new();
        let mut named: Vec<Named> = Vec::new();
        let number = |name: Rc<str>| {
            *known.entry(name).or_insert_with_key(|name| {
                named.push(Named {
                    number: named.len() as u32,
                    name: RowName::new(name),
                    cost: Cost::ZERO,
                });
                named.len() as u32 - 1
            })
        };
        let numbers: Vec<u32> = names.map(number).collect();
        for cost in self.costs(sample_type) {
            named[numbers[cost.context.0 as usize] as usize].cost += cost.cost;
        }
        (named, RowAssignment::Context(numbers))
    }
}

impl RowName {
    fn new(name: &str) -> RowName {
        RowName {
            name: name.to_owned(),
            module: None,
            kind: None,
        }
    }
}

/// A candidate for a row.
struct Named {
    number: u32,
    name: RowName,
    cost: Cost,
}

/// The distinct rows on each stack, as linked lists: a row is attached to the outermost of its frames on the stack.
struct Chains {
    /// The row attached to a node, if any.
    rows: Vec<u32>,
    /// The innermost node with a row among a node and its callers.
    first: Vec<u32>,
    /// The value of `first` for the node's caller.
    next: Vec<u32>,
}

impl Chains {
    fn new(tree: &StackTree, row_of: &[u32], rows: usize) -> Chains {
        let ends = tree.subtree_ends();
        let mut counted_until = vec![0; rows];
        let mut chains = Chains {
            rows: Vec::with_capacity(tree.len()),
            first: Vec::with_capacity(tree.len()),
            next: Vec::with_capacity(tree.len()),
        };
        for node in tree.nodes() {
            let next = tree.parent(node).map_or(NONE, |p| chains.first[p.get()]);
            let row = row_of[tree.frame(node).get()];
            let counts = row != NONE && node.0 >= counted_until[row as usize];
            if counts {
                counted_until[row as usize] = ends[node.get()];
            }
            chains.rows.push(if counts { row } else { NONE });
            chains.first.push(if counts { node.0 } else { next });
            chains.next.push(next);
        }
        chains
    }

    fn rows(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node as usize);
        let first = some(self.first[node as usize]);
        let nodes = std::iter::successors(first, move |&node| some(self.next[node]));
        nodes.map(|node| self.rows[node])
    }
}
