//! Costs of functions in earlier builds.

use super::newest::{Branch, name_runs};
use super::{FunctionNo, HotCosts, HotIndex};
use crate::QueryError;
use crate::compare::Comparison;
use crate::functions::{KeyOptions, ModuleKey, function_key};
use crate::select::{Selection, first_recorded, main_modules, select_whole_build};
use crate::sources::{BuildRef, EVENT, Filter, Sources};
use crate::tree::{CostShare, View, sum_costs};
use hashbrown::HashMap;
use std::cmp::Reverse;
use sto_core::store::StoredBuild;
use sto_core::units::{Cost, UnixSeconds};

/// Costs of the functions of a [`HotIndex`] in earlier builds and its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HotHistory {
    /// The builds, oldest first; the last is the index's own.
    pub builds: Vec<HotBuild>,
    /// Self and total cost of functions, by build.
    costs: Vec<HashMap<FunctionNo, (Cost, Cost)>>,
}

/// A build of a [`HotHistory`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HotBuild {
    /// Version of the build.
    pub build: String,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Runs of the build that are included.
    pub runs: BuildRef,
    /// Number of these runs.
    pub run_count: usize,
    /// Time of the first run's recording.
    pub recorded: Option<UnixSeconds>,
    /// Total cost of these runs.
    whole: Cost,
}

impl HotHistory {
    /// Loads up to `limit` earlier builds of the index's program with the same event and benchmark, and the index's
    /// own. If the index's build is on the checked-out branch, these are the builds of the branch in commit order;
    /// otherwise all builds in order of recording.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read. Without a store, there are no earlier builds.
    pub fn load(
        sources: &Sources,
        index: &HotIndex,
        limit: usize,
    ) -> Result<HotHistory, QueryError> {
        let mut builds = before(sources, index)?;
        builds.drain(..builds.len().saturating_sub(limit + 1));
        let numbers = index.numbers();
        let mut history = HotHistory {
            builds: Vec::new(),
            costs: Vec::new(),
        };
        let event = index.subject.sample_type.as_ref();
        let filter = Filter {
            event: event.map(|sample_type| sample_type.event.clone()),
            ..Filter::default()
        };
        for (stored, runs) in builds {
            let named = name_runs(&runs);
            let view = match sources.view(&named, &filter) {
                // The build was measured by another event.
                Err(QueryError::UnknownEvent { .. }) => continue,
                view => view?,
            };
            let (whole, costs) = function_costs(&view, &numbers);
            history.costs.push(costs);
            history.builds.push(HotBuild {
                build: stored.build.version.clone(),
                tags: stored.tags.clone(),
                run_count: runs.profiles.len(),
                runs: named,
                recorded: first_recorded(&stored),
                whole,
            });
        }
        Ok(history)
    }

    /// Returns the costs of a function by build; zero where it does not exist.
    pub fn costs(&self, function: FunctionNo) -> Vec<HotCosts> {
        let of_builds = self.builds.iter().zip(&self.costs);
        let costs = of_builds.map(|(build, costs)| {
            let (own, total) = costs.get(&function).copied().unwrap_or_default();
            HotCosts {
                self_cost: CostShare::new(own, build.whole),
                total: CostShare::new(total, build.whole),
            }
        });
        costs.collect()
    }

    /// Returns the default baseline: the newest earlier build with a tag, otherwise the previous one.
    pub fn baseline(&self) -> Option<&HotBuild> {
        let (_, before) = self.builds.split_last()?;
        let tagged = before.iter().rfind(|build| !build.tags.is_empty());
        tagged.or(before.last())
    }
}

/// Returns the earlier builds, oldest first, and the index's own, each with the included runs.
fn before(
    sources: &Sources,
    index: &HotIndex,
) -> Result<Vec<(StoredBuild, Selection)>, QueryError> {
    let subject = &index.subject;
    // Files may be used without a store.
    let Ok(store) = sources.store() else {
        return Ok(Vec::new());
    };
    let mut builds = store.builds()?;
    builds.retain(|stored| stored.build.executable == subject.executable);
    let is_own = |stored: &StoredBuild| {
        let mut runs = stored.profiles.iter();
        runs.any(|run| subject.profiles.contains(&run.id))
    };
    let Some(own) = builds.iter().find(|stored| is_own(stored)).cloned() else {
        return Ok(Vec::new());
    };
    let mut own_runs = select_whole_build(&own);
    own_runs
        .profiles
        .retain(|run| subject.profiles.contains(&run.id));
    let benchmark = own_runs
        .profiles
        .first()
        .and_then(|run| run.profile.benchmark.clone());
    let branch = Branch::load(sources);
    let own_age = index
        .revision
        .as_deref()
        .and_then(|revision| branch.age(revision));
    let own_time = first_recorded(&own);
    let others = builds.iter().filter(|stored| !is_own(stored));
    let found = others.filter_map(|stored| {
        let recorded = first_recorded(stored);
        let (age, runs) = match own_age {
            Some(_) => branch.runs(stored)?,
            None => (0, select_whole_build(stored)),
        };
        let is_before = (Reverse(age), recorded) <= (Reverse(own_age.unwrap_or(0)), own_time);
        let runs = runs.only_benchmark(benchmark.as_deref());
        let is_kept = is_before && !runs.profiles.is_empty();
        is_kept.then(|| (Reverse(age), recorded, stored.clone(), runs))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|&(age, recorded, ..)| (age, recorded));
    let found = found.into_iter().map(|(_, _, stored, runs)| (stored, runs));
    let mut found: Vec<(StoredBuild, Selection)> = found.collect();
    found.push((own, own_runs));
    Ok(found)
}

/// Returns the total cost of a view, and self and total cost of the functions in `numbers`.
fn function_costs(
    view: &View,
    numbers: &HashMap<(&str, &str), FunctionNo>,
) -> (Cost, HashMap<FunctionNo, (Cost, Cost)>) {
    let build = &view.selection.build;
    let main = main_modules(build, &view.selection.profiles);
    // Functions that are not in the index are combined in the last entry.
    let other = numbers.len() as u32;
    let number_of = view.frames.iter().map(|(_, frame)| {
        let (name, module) = function_key(frame, &main, KeyOptions::default());
        let module = match module {
            ModuleKey::MainProgram => &build.executable,
            ModuleKey::Named(module) => module,
        };
        numbers
            .get(&(&*name, module))
            .map_or(other, |number| number.0)
    });
    let number_of: Vec<u32> = number_of.collect();
    let self_costs = view.self_costs(EVENT);
    let costs = sum_costs(view, &self_costs, &number_of).into_iter();
    let known = costs.take(other as usize).zip((0..).map(FunctionNo));
    let costs = known
        .filter(|((_, total), _)| !total.is_zero())
        .map(|(costs, number)| (number, costs));
    (self_costs.iter().copied().sum(), costs.collect())
}

/// Changes that a comparison found in the functions of its candidate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HotChanges {
    /// Version of the baseline.
    pub since: String,
    changes: HashMap<FunctionNo, f64>,
}

impl HotChanges {
    /// Extracts the normalised changes in total cost of findings, and of the callers whose cost they changed.
    pub fn from_comparison(index: &HotIndex, comparison: &Comparison) -> HotChanges {
        let numbers = index.numbers();
        let mut changes = HashMap::new();
        let mut add = |function: &str, module: &str, change: Option<f64>| {
            let number = numbers.get(&(function, index.module_known_as(module)));
            if let Some((&number, change)) = number.zip(change) {
                changes.entry(number).or_insert(change);
            }
        };
        for finding in &comparison.findings {
            add(&finding.function, &finding.module, finding.total.change);
        }
        let findings = comparison.findings.iter();
        for caller in findings.flat_map(|finding| &finding.affected_callers) {
            add(&caller.function, &caller.module, caller.change);
        }
        HotChanges {
            since: comparison.baseline.build.clone(),
            changes,
        }
    }

    /// Returns the ratio of a function's cost to that in the baseline; `None` if it did not change significantly or
    /// is new.
    pub fn change(&self, function: FunctionNo) -> Option<f64> {
        self.changes.get(&function).copied()
    }
}
