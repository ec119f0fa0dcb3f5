//! Durations of calls by argument, or by the number of preceding calls.

use super::costs::{Costs, FunctionCosts, commit_of, function_names};
use super::known_numbers::ORDER;
use super::{ModelError, Modelled};
use crate::select::{full_name, main_modules};
use crate::tree::{Order, View};
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::FrameTable;
use sto_core::store::{KeptCalls, LoadedCalls, Snapshot, StoreError, StoredProfile};
use sto_core::trace::is_call_time;
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::Nanoseconds;

/// Maximum number of points per function and thread in order of calls; beyond it, each two consecutive points are
/// merged.
const MOST: u64 = 1 << 14;

impl Costs {
    /// Returns the costs of functions in the calls of a view's runs, with one point per call that has an argument
    /// `x`, or per group of calls stored together. The program's own functions get the module `program`. Returns
    /// `None` if no call has such an argument, or if a time window is set, because arguments have no time.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub(crate) fn from_arguments(
        view: &View,
        store: &Snapshot,
        (x, of): (&str, Order),
        program: &str,
    ) -> Result<Option<Costs>, StoreError> {
        if !view.windows.is_empty() {
            return Ok(None);
        }
        let mut points = FunctionPoints::default();
        for stored in &view.selection.profiles {
            let Some(loaded) = store.load_calls(stored.id)? else {
                continue;
            };
            let LoadedCalls {
                frames,
                tree,
                calls,
                ..
            } = &loaded;
            let names = Names::new(view, (frames, tree), program);
            for (function, _) in &names.names {
                points.arguments.entry(function.clone()).or_default();
            }
            for with in &calls.arguments {
                let (function, module) = names.of_stack(with.stack);
                if with.argument != x {
                    let arguments = points.arguments.entry(function).or_default();
                    arguments.insert(with.argument.clone());
                    continue;
                }
                let points = points.add_run(stored).entry((function, module));
                points.extend(with.calls.iter().map(|call| {
                    let took = match of {
                        Order::SelfCost => call.self_duration,
                        Order::Total => call.duration,
                    };
                    (call.value, took.0 as f64 / call.calls as f64)
                }));
            }
        }
        Ok(points.costs(view, (x, of)))
    }

    /// Like `from_arguments`, with one point per call, where x is the number of the call among the calls of its function
    /// in its thread. Beyond 16,384 calls, a point stands for several consecutive calls. Returns `None` if no run is a
    /// trace of calls.
    ///
    /// # Errors
    ///
    /// Returns an error if the calls of a run were not stored, or if the store cannot be read.
    pub(crate) fn from_call_order(
        view: &View,
        store: &Snapshot,
        of: Order,
        program: &str,
    ) -> Result<Option<Costs>, ModelError> {
        if !view.windows.is_empty() {
            return Ok(None);
        }
        let mut points = FunctionPoints::default();
        for stored in &view.selection.profiles {
            let Some(kept) = store.kept_calls(stored.id)? else {
                match store.load_calls(stored.id)? {
                    None => continue,
                    Some(_) => {
                        return Err(ModelError::NotKept {
                            build: full_name(&view.selection.build),
                            profile: stored.id,
                        });
                    }
                }
            };
            let names = Names::new(view, (kept.frames(), kept.tree()), program);
            for thread in 0..kept.threads().len() {
                for (function, calls) in in_order(&kept, thread, &names, of)? {
                    let points = points.add_run(stored).entry(names.names[function].clone());
                    points.extend(calls.points());
                }
            }
        }
        Ok(points.costs(view, (ORDER, of)))
    }
}

/// Returns the arguments in the calls of a view's runs, each with the functions that have it.
pub(super) fn arguments(
    view: &View,
    store: &Snapshot,
) -> Result<BTreeMap<String, BTreeSet<(String, String)>>, StoreError> {
    let mut functions: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
    for stored in &view.selection.profiles {
        let Some(loaded) = store.load_calls(stored.id)? else {
            continue;
        };
        let names = Names::new(view, (&loaded.frames, &loaded.tree), "");
        for with in loaded.calls.arguments {
            let function = names.of_stack(with.stack);
            functions.entry(with.argument).or_default().insert(function);
        }
    }
    Ok(functions)
}

/// Points by function and module, and the number of their runs.
#[derive(Default)]
struct FunctionPoints {
    by_name: BTreeMap<(String, String), Vec<(f64, f64)>>,
    /// Like [`Costs::no_points_error`], including functions that have points.
    arguments: BTreeMap<String, BTreeSet<String>>,
    runs: usize,
    last: Option<StoredProfile>,
}

impl FunctionPoints {
    fn add_run(&mut self, run: &StoredProfile) -> &mut Self {
        if self.last.as_ref().is_none_or(|last| last.id != run.id) {
            self.runs += 1;
            self.last = Some(run.clone());
        }
        self
    }

    fn entry(&mut self, name: (String, String)) -> &mut Vec<(f64, f64)> {
        self.by_name.entry(name).or_default()
    }

    fn costs(mut self, view: &View, (x, of): (&str, Order)) -> Option<Costs> {
        for (function, _) in self.by_name.keys() {
            self.arguments.remove(function);
        }
        let types = &self.last?.profile.sample_types;
        let time = types.iter().find(|of| is_call_time(of, types));
        let build = &view.selection.build;
        let functions = self.by_name.into_iter();
        let functions = functions.map(|((function, module), points)| FunctionCosts {
            function,
            module,
            points,
        });
        Some(Costs {
            commit: commit_of(build),
            of: Modelled {
                executable: Some(build.executable.clone()),
                build: Some(build.version.clone()),
                x: x.to_owned(),
                sample_type: time.cloned(),
                cost: Some(of),
                of_calls: true,
                runs: self.runs,
                without_x: view.selection.profiles.len() - self.runs,
            },
            nothing: Vec::new(),
            functions: functions.collect(),
            called: Vec::new(),
            pointless: self.arguments,
        })
    }
}

/// The functions of a run's stacks.
struct Names<'t> {
    tree: &'t StackTree,
    names: Vec<(String, String)>,
    number_of: Vec<u32>,
}

impl<'t> Names<'t> {
    fn new(view: &View, (frames, tree): (&FrameTable, &'t StackTree), program: &str) -> Names<'t> {
        let main = main_modules(&view.selection.build, &view.selection.profiles);
        let (names, number_of) = function_names(frames, &main, program);
        Names {
            tree,
            names,
            number_of,
        }
    }

    fn number(&self, stack: NodeIx) -> usize {
        self.number_of[self.tree.frame(stack).get()] as usize
    }

    fn of_stack(&self, stack: NodeIx) -> (String, String) {
        self.names[self.number(stack)].clone()
    }
}

/// The calls of a function in a thread by number, where several consecutive ones may be merged.
struct InOrder {
    calls: u64,
    in_a_row: u64,
    /// Sums of call numbers and durations, with the number of calls summed.
    sums: Vec<(f64, f64, u64)>,
}

impl InOrder {
    fn new() -> InOrder {
        InOrder {
            calls: 0,
            in_a_row: 1,
            sums: Vec::new(),
        }
    }

    fn add(&mut self, number: u64, took: u64) {
        while number > MOST * self.in_a_row {
            self.in_a_row *= 2;
            let pairs = self.sums.chunks(2).map(|pair| {
                pair.iter().fold((0.0, 0.0, 0), |sum, of| {
                    (sum.0 + of.0, sum.1 + of.1, sum.2 + of.2)
                })
            });
            self.sums = pairs.collect();
        }
        let at = ((number - 1) / self.in_a_row) as usize;
        if self.sums.len() <= at {
            self.sums.resize(at + 1, (0.0, 0.0, 0));
        }
        let sum = &mut self.sums[at];
        *sum = (sum.0 + number as f64, sum.1 + took as f64, sum.2 + 1);
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let sums = self.sums.iter().filter(|(.., calls)| *calls > 0);
        sums.map(|&(numbers, took, calls)| (numbers / calls as f64, took / calls as f64))
    }
}

/// Returns the durations of each function's calls, in order of their start.
fn in_order(
    kept: &KeptCalls,
    thread: usize,
    names: &Names<'_>,
    of: Order,
) -> Result<BTreeMap<usize, InOrder>, StoreError> {
    let mut all: BTreeMap<usize, InOrder> = BTreeMap::new();
    // Function, number and duration of each open call.
    let mut open: Vec<(usize, u64, u64)> = Vec::new();
    let end = |open: &mut Vec<_>, depth: usize, all: &mut BTreeMap<usize, InOrder>| {
        for (function, number, took) in open.drain(depth.min(open.len())..) {
            all.entry(function)
                .or_insert_with(InOrder::new)
                .add(number, took);
        }
    };
    kept.visit_calls_during(thread, (Nanoseconds(0), Nanoseconds(u64::MAX)), |call| {
        end(&mut open, call.depth as usize, &mut all);
        let took = call.end.0 - call.begin.0;
        if let (Order::SelfCost, Some((.., caller))) = (of, open.last_mut()) {
            *caller = caller.saturating_sub(took);
        }
        let function = names.number(call.stack);
        let calls = all.entry(function).or_insert_with(InOrder::new);
        calls.calls += 1;
        open.push((function, calls.calls, took));
    })?;
    end(&mut open, 0, &mut all);
    Ok(all)
}
