//! The cores that one program and its code keep busy.

use super::options::{SavingsOf, SavingsOptions};
use super::result::{Cores, LeftOutRuns, ProgramCores};
use crate::QueryError;
use crate::select::{Selection, main_modules};
use crate::tree::{View, function_numbers};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::CancelToken;
use sto_core::model::{FrameIx, FrameTable, Profile, StringIx};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::tree::{outermost, totals};
use sto_core::units::{Cost, SampleType, Unit};
use sto_stats::Estimate;

/// A function or library: its module, and its name unless it is a library.
pub(super) type Code = (String, Option<String>);

/// Events whose values are processor time, without modifiers. Their unit must be nanoseconds.
const CPU_TIME: [&str; 5] = ["cpu", "cpu-clock", "task-clock", "cpu-time", "process_cpu"];

fn is_cpu_time(sample_type: &SampleType) -> bool {
    let event = sample_type.event.split([':', '/']).next();
    sample_type.unit == Unit::Nanoseconds && event.is_some_and(|event| CPU_TIME.contains(&event))
}

fn wall_seconds(profile: &Profile) -> Option<f64> {
    let duration = profile.origin.duration?;
    (duration.0 > 0).then(|| seconds(duration.0))
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Number of runs that are loaded at once.
const RUNS_AT_ONCE: usize = 100;

/// The runs of a program that measured processor time for a known duration.
pub(super) struct MeasuredProgram {
    builds: Vec<StoredBuild>,
    /// The hosts, if the runs are of several known ones.
    hosts: Option<Vec<String>>,
}

/// The cores of a program.
pub(super) struct ProgramCosts {
    pub(super) whole: Estimate,
    /// The self and total cores of its code.
    pub(super) by_code: BTreeMap<Code, [Estimate; 2]>,
}

/// The processor time of one run in seconds.
struct RunCosts {
    whole: f64,
    /// Self and total, by the number of the code.
    by_number: Vec<(Cost, Cost)>,
}

impl MeasuredProgram {
    /// Chooses the measured runs; `None` without such a run.
    pub(super) fn new(builds: &[StoredBuild], left_out: &mut LeftOutRuns) -> Option<Self> {
        let mut builds = builds.to_vec();
        for build in &mut builds {
            build.profiles.retain(|stored| {
                let profile = &stored.profile;
                let has_cpu_time = profile.sample_types.iter().any(is_cpu_time);
                let has_duration = wall_seconds(profile).is_some();
                if !profile.is_average() {
                    left_out.without_cpu_time += usize::from(!has_cpu_time);
                    left_out.without_duration += usize::from(has_cpu_time && !has_duration);
                }
                has_cpu_time && has_duration && !profile.is_average()
            });
        }
        builds.retain(|build| !build.profiles.is_empty());
        let hosts: Option<BTreeSet<&str>> = runs(&builds)
            .map(|run| run.profile.origin.host.as_deref())
            .collect();
        let hosts = hosts
            .filter(|hosts| hosts.len() > 1)
            .map(|hosts| hosts.into_iter().map(str::to_owned).collect());
        (!builds.is_empty()).then_some(MeasuredProgram { builds, hosts })
    }

    /// Describes the program.
    pub(super) fn cores(&self, whole: Estimate) -> ProgramCores {
        let wall_seconds: f64 = self.wall_by_replicate().iter().sum();
        ProgramCores {
            executable: self.builds[0].build.executable.clone(),
            runs: runs(&self.builds).count(),
            hosts: self.hosts.as_ref().map(Vec::len),
            wall_seconds,
            cpu_seconds: whole.value * wall_seconds,
            cores: Cores::new(whole),
        }
    }

    /// Loads all runs, and estimates the cores of the program and its code. The replicates of the estimates are the
    /// hosts, if there are several, or otherwise the runs.
    pub(super) fn costs(
        &self,
        store: &Snapshot,
        options: &SavingsOptions,
        cancel: &CancelToken,
    ) -> Result<ProgramCosts, QueryError> {
        let wall = self.wall_by_replicate();
        let mut whole = vec![0.0; wall.len()];
        let mut by_code: BTreeMap<Code, Vec<(usize, [f64; 2])>> = BTreeMap::new();
        let mut first_run = 0;
        for builds in chunks(&self.builds) {
            cancel.check()?;
            let costs = RunsOfBuilds::load(store, builds, options)?;
            let of_runs = (0..costs.view.runs.len()).into_par_iter();
            let of_runs: Vec<RunCosts> = of_runs.map(|run| costs.of_run(run)).collect();
            let replicates = runs(builds).enumerate();
            let replicates = replicates.map(|(ix, run)| self.replicate(first_run + ix, run));
            let replicates: Vec<usize> = replicates.collect();
            first_run += replicates.len();
            for (run, &replicate) in of_runs.iter().zip(&replicates) {
                whole[replicate] += run.whole;
            }
            for (number, code) in costs.codes.into_iter().enumerate() {
                let of_code = of_runs.iter().zip(&replicates).map(|(run, &replicate)| {
                    let (self_cost, total) = run.by_number[number];
                    (replicate, [seconds(self_cost.value), seconds(total.value)])
                });
                let of_code = of_code.filter(|(_, [_, total])| *total > 0.0);
                let mut of_code = of_code.peekable();
                if of_code.peek().is_some() {
                    by_code.entry(code).or_default().extend(of_code);
                }
            }
        }
        let estimates = by_code.into_iter().map(|(code, costs)| {
            let estimate = |which: usize| {
                let mut by_replicate = vec![0.0; wall.len()];
                for (replicate, cost) in &costs {
                    by_replicate[*replicate] += cost[which];
                }
                Estimate::from_ratio(&by_replicate, &wall)
            };
            (code, [estimate(0), estimate(1)])
        });
        Ok(ProgramCosts {
            whole: Estimate::from_ratio(&whole, &wall),
            by_code: estimates.collect(),
        })
    }

    /// The number of a run's replicate: of its host, or otherwise of the run.
    fn replicate(&self, run_ix: usize, run: &StoredProfile) -> usize {
        match (&self.hosts, &run.profile.origin.host) {
            (Some(hosts), Some(host)) => hosts.binary_search(host).unwrap_or(0),
            _ => run_ix,
        }
    }

    fn wall_by_replicate(&self) -> Vec<f64> {
        let count = self.hosts.as_ref().map(Vec::len);
        let mut wall = vec![0.0; count.unwrap_or_else(|| runs(&self.builds).count())];
        for (ix, run) in runs(&self.builds).enumerate() {
            wall[self.replicate(ix, run)] += wall_seconds(&run.profile).unwrap_or(0.0);
        }
        wall
    }
}

fn runs(builds: &[StoredBuild]) -> impl Iterator<Item = &StoredProfile> {
    builds.iter().flat_map(|build| &build.profiles)
}

/// Divides builds so that about this many runs are loaded at once, as each shares its stacks with the others.
fn chunks(builds: &[StoredBuild]) -> impl Iterator<Item = &[StoredBuild]> {
    let most = builds.iter().map(|build| build.profiles.len()).max();
    builds.chunks((RUNS_AT_ONCE / most.unwrap_or(1).max(1)).max(1))
}

/// The costs of runs of several builds by function or library.
struct RunsOfBuilds {
    view: View,
    /// The number of the code of each frame.
    numbers: Vec<u32>,
    codes: Vec<Code>,
    /// Whether no node above a node has the same number.
    is_outermost: Vec<bool>,
}

impl RunsOfBuilds {
    fn load(
        store: &Snapshot,
        builds: &[StoredBuild],
        options: &SavingsOptions,
    ) -> Result<RunsOfBuilds, QueryError> {
        let main = builds
            .iter()
            .flat_map(|build| main_modules(&build.build, &build.profiles));
        let main: BTreeSet<&str> = main.collect();
        // The stacks of all builds of a program are loaded alike.
        let selection = Selection::new(builds[0].build.clone(), runs(builds).cloned().collect());
        let view = View::load(store, selection)?;
        let view = if options.inlined {
            view
        } else {
            view.without_inlined()
        };
        let view = view.with_keys_of(&main, options.matching);
        let numbers = match options.of {
            SavingsOf::Functions => function_numbers(&view),
            SavingsOf::Modules => module_numbers(&view.frames),
        };
        Ok(RunsOfBuilds {
            codes: codes(&view.frames, &numbers, options.of),
            is_outermost: outermost(&view.tree, &numbers).collect(),
            numbers,
            view,
        })
    }

    /// Returns the costs of a run; recursion counts once.
    fn of_run(&self, run: usize) -> RunCosts {
        let view = &self.view;
        let mut columns = view.sample_types.iter().zip(&view.runs[run]);
        let column = columns.find(|(event, costs)| is_cpu_time(event) && !costs.is_empty());
        let column = column.map_or(&[][..], |(_, column)| column);
        let mut self_costs = vec![Cost::ZERO; view.tree.len()];
        for (node, cost) in column {
            self_costs[node.get()] += *cost;
        }
        let mut by_number = vec![(Cost::ZERO, Cost::ZERO); self.codes.len()];
        for (node, total) in view.tree.nodes().zip(totals(&view.tree, &self_costs)) {
            let number = self.numbers[view.tree.frame(node).get()] as usize;
            by_number[number].0 += self_costs[node.get()];
            if self.is_outermost[node.get()] {
                by_number[number].1 += total;
            }
        }
        RunCosts {
            whole: seconds(column.iter().map(|(_, cost)| cost.value).sum()),
            by_number,
        }
    }
}

/// Returns the number of each frame's module. Numbers are dense and ascend in the order of frames.
fn module_numbers(frames: &FrameTable) -> Vec<u32> {
    let mut numbers: BTreeMap<StringIx, u32> = BTreeMap::new();
    let module = |ix: FrameIx| frames.string_indices(ix).1;
    let frames = frames.iter().map(|(ix, _)| {
        let next = numbers.len() as u32;
        *numbers.entry(module(ix)).or_insert(next)
    });
    frames.collect()
}

/// Returns the code with each number.
fn codes(frames: &FrameTable, numbers: &[u32], of: SavingsOf) -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::new();
    for ((_, frame), &number) in frames.iter().zip(numbers) {
        if number as usize == codes.len() {
            let function = (of == SavingsOf::Functions).then(|| frame.symbol.to_owned());
            codes.push((frame.module.to_owned(), function));
        }
    }
    codes
}
