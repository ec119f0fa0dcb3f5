//! The cores that one program and its code keep busy.

use super::options::{SavingsOf, SavingsOptions};
use super::result::{Cores, LeftOutRuns, ProgramCores};
use crate::QueryError;
use crate::select::Selection;
use crate::tree::{View, function_numbers, sum_costs};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::CancelToken;
use sto_core::model::{FrameIx, FrameTable, Profile, StringIx};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::tree::total_cost;
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
        for build in &self.builds {
            cancel.check()?;
            let selection = Selection::new(build.build.clone(), build.profiles.clone());
            let view = View::load(store, selection)?;
            let view = if options.inlined {
                view
            } else {
                view.without_inlined()
            };
            let view = view.with_function_keys(options.matching);
            let numbers = match options.of {
                SavingsOf::Functions => function_numbers(&view),
                SavingsOf::Modules => module_numbers(&view.frames),
            };
            let codes = codes(&view.frames, &numbers, options.of);
            let of_runs = (0..view.runs.len()).into_par_iter();
            let of_runs: Vec<RunCosts> =
                of_runs.map(|run| run_costs(&view, run, &numbers)).collect();
            let replicates = build.profiles.iter().enumerate();
            let replicates = replicates.map(|(ix, run)| self.replicate(first_run + ix, run));
            let replicates: Vec<usize> = replicates.collect();
            first_run += replicates.len();
            for (run, &replicate) in of_runs.iter().zip(&replicates) {
                whole[replicate] += run.whole;
            }
            for (number, code) in codes.into_iter().enumerate() {
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

fn run_costs(view: &View, run: usize, numbers: &[u32]) -> RunCosts {
    let mut columns = view.sample_types.iter().zip(&view.runs[run]);
    let column = columns.find(|(sample_type, costs)| is_cpu_time(sample_type) && !costs.is_empty());
    let mut self_costs = vec![Cost::ZERO; view.tree.len()];
    let Some((_, column)) = column else {
        // No sample was taken.
        return RunCosts {
            whole: 0.0,
            by_number: sum_costs(view, &self_costs, numbers),
        };
    };
    for (node, cost) in column {
        self_costs[node.get()] += *cost;
    }
    RunCosts {
        whole: seconds(total_cost(column).value),
        by_number: sum_costs(view, &self_costs, numbers),
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
