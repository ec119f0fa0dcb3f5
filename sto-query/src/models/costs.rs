//! Points that curves are fitted to: the cost of functions at each x.

use super::{FunctionWithoutPoints, KnownNumbers, ModelError, Modelled, table};
use crate::functions::{
    FunctionChoice, FunctionKey, KeyOptions, ModuleKey, SymbolAndKey, function_key,
};
use crate::select::{full_name, main_modules};
use crate::text::find_closest;
use crate::tree::{Order, View, call_costs, sum_costs};
use hashbrown::HashMap;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::ProfileId;
use sto_core::model::{Build, Commit, FrameTable, Profile};
use sto_core::units::Cost;
use sto_stats::models::Bins;

/// Costs of functions at each x.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    pub(super) of: Modelled,
    /// The commit of the program, if it had no uncommitted changes.
    pub(super) commit: Option<Commit>,
    /// Points of a function that does not occur in any run.
    pub(super) nothing: Vec<(f64, f64)>,
    /// Sorted by name.
    pub(super) functions: Vec<FunctionCosts>,
    /// Costs in calls between functions, if y is the total cost.
    pub(super) called: Vec<CallCost>,
    /// Names of functions without a point, with the other arguments of their calls.
    pub(super) pointless: BTreeMap<String, BTreeSet<String>>,
}

/// Average cost of one function in calls by another, at the largest x.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallCost {
    /// Index in [`Costs::functions`].
    pub(super) caller: usize,
    /// Index in [`Costs::functions`].
    pub(super) callee: usize,
    pub(super) cost: f64,
}

/// The points of a function.
#[derive(Clone, Debug)]
pub(super) struct FunctionCosts {
    pub(super) function: String,
    pub(super) module: String,
    /// Pairs (x, y), with y in the unit of the sample type, or in samples if it has no values.
    pub(super) points: Vec<(f64, f64)>,
}

impl Costs {
    /// Returns the costs of a view's functions, with one point per run that has x. The program's own functions get
    /// the module `program`. Inlined functions are separate if they are in the view.
    ///
    /// # Errors
    ///
    /// Returns an error if no run has x.
    pub(crate) fn from_runs(
        view: &View,
        sample_type: usize,
        (x, of): (&str, Order),
        program: &str,
    ) -> Result<Costs, ModelError> {
        let profiles = &view.selection.profiles;
        let given = profiles.iter().map(|stored| x_of_run(&stored.profile, x));
        let runs: Vec<(f64, usize)> = given
            .enumerate()
            .filter_map(|(run, x)| Some((x?, run)))
            .collect();
        if runs.is_empty() {
            return Err(unknown_x(view, numbers_of_runs(view), x, None));
        }
        let main = main_modules(&view.selection.build, profiles);
        let (names, number_of) = function_names(&view.frames, &main, program);
        let self_costs = |run: usize| {
            let mut costs = vec![Cost::ZERO; view.tree.len()];
            for (node, cost) in view.runs[run].get(sample_type).into_iter().flatten() {
                costs[node.get()] += *cost;
            }
            costs
        };
        let costs: Vec<Vec<Cost>> = runs
            .par_iter()
            .map(|&(_, run)| {
                let costs = sum_costs(view, &self_costs(run), &number_of).into_iter();
                let chosen = costs.map(|(self_cost, total)| match of {
                    Order::SelfCost => self_cost,
                    Order::Total => total,
                });
                chosen.collect()
            })
            .collect();
        let has_value = costs.iter().flatten().any(|cost| cost.value > 0);
        let amount = |cost: &Cost| {
            if has_value {
                cost.value as f64
            } else {
                cost.samples as f64
            }
        };
        let functions = names
            .into_iter()
            .enumerate()
            .map(|(ix, (function, module))| {
                let points = runs.iter().zip(&costs);
                let points = points.map(|(&(x, _), run)| (x, run.get(ix).map_or(0.0, amount)));
                let of = FunctionCosts {
                    function,
                    module,
                    points: points.collect(),
                };
                (ix, of)
            });
        let (mut functions, without): (Vec<_>, Vec<_>) =
            functions.partition(|(_, of)| of.points.iter().any(|&(_, cost)| cost > 0.0));
        let without = without.into_iter();
        functions.sort_by(|(_, a), (_, b)| (&a.function, &a.module).cmp(&(&b.function, &b.module)));
        let places = functions.iter().enumerate();
        let places: HashMap<u32, usize> = places.map(|(at, (ix, _))| (*ix as u32, at)).collect();
        let called = match of {
            Order::SelfCost => BTreeMap::new(),
            Order::Total => costs_at_largest_x(&runs, |run| {
                let between = call_costs(view, &self_costs(run), &number_of).into_iter();
                between.map(|(pair, cost)| (pair, amount(&cost))).collect()
            }),
        };
        let called = called.into_iter().filter_map(|((caller, callee), cost)| {
            Some(CallCost {
                caller: *places.get(&caller)?,
                callee: *places.get(&callee)?,
                cost,
            })
        });
        let build = &view.selection.build;
        // Parts of a run are several points but count as one run.
        let mut ids: Vec<ProfileId> = runs.iter().map(|&(_, run)| profiles[run].id).collect();
        ids.dedup();
        Ok(Costs {
            commit: commit_of(build),
            of: Modelled {
                executable: Some(build.executable.clone()),
                build: Some(build.version.clone()),
                x: x.to_owned(),
                sample_type: view.sample_types.get(sample_type).cloned(),
                cost: Some(of),
                of_calls: false,
                runs: ids.len(),
                without_x: profiles.len() - runs.len(),
            },
            nothing: runs.iter().map(|&(x, _)| (x, 0.0)).collect(),
            called: called.collect(),
            pointless: without
                .map(|(_, of)| (of.function, BTreeSet::new()))
                .collect(),
            functions: functions.into_iter().map(|(_, of)| of).collect(),
        })
    }
}

impl Costs {
    /// Reads a table of points: CSV with the columns `x`, `y` and optionally `group`, whose groups are functions.
    ///
    /// # Errors
    ///
    /// Returns an error if the table has a different form.
    pub(crate) fn from_table(text: &str) -> Result<Costs, ModelError> {
        let groups = table::read(text)?;
        let all: Vec<(f64, f64)> = groups.values().flatten().copied().collect();
        let functions = groups.into_iter().map(|(function, points)| FunctionCosts {
            function,
            module: String::new(),
            points,
        });
        Ok(Costs {
            of: Modelled {
                executable: None,
                build: None,
                x: "x".to_owned(),
                sample_type: None,
                cost: None,
                of_calls: false,
                runs: all.len(),
                without_x: 0,
            },
            commit: None,
            nothing: all.iter().map(|&(x, _)| (x, 0.0)).collect(),
            functions: functions.collect(),
            called: Vec::new(),
            pointless: BTreeMap::new(),
        })
    }

    /// Sets the name of the file that a table was read from.
    pub(crate) fn with_file_name(mut self, name: &str) -> Costs {
        self.of.build = Some(name.to_owned());
        self
    }

    /// Replaces the x of each function's points by the mean x of their bin.
    pub(crate) fn with_bins(mut self, bins: Option<Bins>) -> Costs {
        for function in &mut self.functions {
            if let Some(bins) = bins {
                bins.apply(std::slice::from_mut(&mut function.points));
            }
        }
        self
    }

    /// Returns an error if the function has no points.
    pub(super) fn no_points_error(&self, function: &str) -> Option<ModelError> {
        let choice = FunctionChoice::parse(function).ok()?;
        let keys = self.pointless.keys();
        let keys: Vec<SymbolAndKey<'_>> = keys.map(|key| SymbolAndKey::from_key(key)).collect();
        let first = *choice.find_matches(&keys).first()?;
        let (function, arguments) = self.pointless.iter().nth(first)?;
        let others = self.functions.iter().map(|of| of.function.clone());
        Some(ModelError::Pointless(Box::new(FunctionWithoutPoints {
            build: self.of.name(),
            x: self.of.x.clone(),
            function: function.clone(),
            arguments: self.of.of_calls.then(|| arguments.clone()),
            by_itself: self.of.cost == Some(Order::SelfCost),
            others: others.collect(),
        })))
    }
}

impl FunctionCosts {
    /// Returns the average cost at the largest x.
    pub(super) fn cost_at_largest_x(&self) -> f64 {
        let largest = self.points.iter().map(|&(x, _)| x).fold(f64::MIN, f64::max);
        let at = self.points.iter().filter(|point| point.0 == largest);
        let (count, sum) = at.fold((0, 0.0), |(count, sum), &(_, y)| (count + 1, sum + y));
        sum / f64::from(count.max(1))
    }
}

/// Returns the average costs in calls between functions over the runs with the largest x.
fn costs_at_largest_x(
    runs: &[(f64, usize)],
    of_run: impl Fn(usize) -> Vec<((u32, u32), f64)>,
) -> BTreeMap<(u32, u32), f64> {
    let largest = runs.iter().map(|&(x, _)| x).fold(f64::MIN, f64::max);
    let at: Vec<_> = runs.iter().filter(|(x, _)| *x == largest).collect();
    let mut mean: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (pair, cost) in at.iter().flat_map(|&&(_, run)| of_run(run)) {
        *mean.entry(pair).or_default() += cost / at.len() as f64;
    }
    mean
}

/// Returns the commit of a build, if the build had no uncommitted changes.
pub(super) fn commit_of(build: &Build) -> Option<Commit> {
    build.commit.clone().filter(|commit| !commit.dirty)
}

/// Returns the x of a run: a metric or a numeric label.
pub(super) fn x_of_run(profile: &Profile, x: &str) -> Option<f64> {
    let metric = profile.metrics.get(x).copied();
    let label = || profile.labels.get(x)?.trim().parse::<f64>().ok();
    metric.or_else(label).filter(|x| x.is_finite())
}

/// Returns the metrics and the numeric labels of runs.
pub(super) fn numbers_of_runs(view: &View) -> KnownNumbers {
    let profiles = view.selection.profiles.iter().map(|stored| &stored.profile);
    let names = profiles.flat_map(|profile| {
        let names = profile.metrics.keys().chain(profile.labels.keys());
        names.filter(|name| x_of_run(profile, name).is_some())
    });
    KnownNumbers {
        runs: names.cloned().collect(),
        ..KnownNumbers::default()
    }
}

/// Creates the error for an unknown x, with the known numbers, and with the other view if runs of that have x.
pub(super) fn unknown_x(
    view: &View,
    known: KnownNumbers,
    x: &str,
    other: Option<&View>,
) -> ModelError {
    let names = known.runs.iter().chain(&known.samples);
    let names = names.chain(known.calls.keys()).map(String::as_str);
    ModelError::NoX {
        build: full_name(&view.selection.build),
        x: x.to_owned(),
        other: other.map(|other| full_name(&other.selection.build)),
        closest: find_closest(x, names.filter(|name| *name != x)).map(Box::from),
        known: Box::new(known),
    }
}

/// Returns `true` if any run has x.
pub(super) fn has_x(view: &View, x: &str) -> bool {
    let mut profiles = view.selection.profiles.iter();
    profiles.any(|stored| x_of_run(&stored.profile, x).is_some())
}

/// Returns the functions of these frames, and the index of each frame's function.
pub(super) fn function_names<'f>(
    frames: &'f FrameTable,
    main: &BTreeSet<&str>,
    program: &str,
) -> (Vec<(String, String)>, Vec<u32>) {
    let mut numbers: HashMap<FunctionKey<'f>, u32> = HashMap::new();
    let mut names = Vec::new();
    let number_of = frames.iter().map(|(_, frame)| {
        let key = function_key(frame, main, KeyOptions::default());
        *numbers.entry(key).or_insert_with_key(|(symbol, module)| {
            names.push((
                symbol.clone().into_owned(),
                match module {
                    ModuleKey::MainProgram => program.to_owned(),
                    ModuleKey::Named(name) => (*name).to_owned(),
                },
            ));
            names.len() as u32 - 1
        })
    });
    let number_of = number_of.collect();
    (names, number_of)
}
