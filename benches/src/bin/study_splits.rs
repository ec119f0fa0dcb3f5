//! Draws comparisons from the recorded runs of `benches/study`, and compares each with sto.
//!
//!     cargo run --release -p sto-benches --bin study_splits -- STORE FOLDER
//!
//! Writes into FOLDER, for the script that tests other methods:
//!
//! - `counts.csv`: samples by function and run: attributed self (a) and total (t) counts;
//! - `splits.csv`: which runs are the baseline's and the candidate's in each comparison;
//! - `sto.csv`: the verdict of sto for each comparison.

use clap::Parser;
use rayon::prelude::*;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use sto_core::store::{Snapshot, Store, StoredProfile};
use sto_query::internal::compare::compare;
use sto_query::questions::CompareOptions;
use sto_query::results::{Change, Comparison, FindingKind, TestedFunction, Verdict, View};
use sto_query::select::{Selection, Selector, select};

/// Draw comparisons from the recorded runs of the study, and judge each
#[derive(Parser)]
struct Args {
    /// Folder of the store, with the builds slower-0, slower-2, ...
    store: PathBuf,
    /// Folder for the tables
    folder: PathBuf,
    /// Comparisons of equal builds, for each number of runs
    #[arg(long, default_value_t = 400)]
    equal: usize,
    /// Comparisons with each slowdown, for each number of runs
    #[arg(long, default_value_t = 200)]
    slower: usize,
}

const SLOWER: [u32; 5] = [0, 2, 5, 10, 25];
const RUNS_A_SIDE: [usize; 5] = [1, 2, 3, 6, 12];
/// The function that is slowed down.
const TARGET: &str = "study_workload::score";

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let (runs, builds) = load(&Store::open(&args.store)?.snapshot()?)?;
    fs::create_dir_all(&args.folder)?;
    fs::write(args.folder.join("counts.csv"), counts(&runs)?)?;

    let splits = splits(&builds, args.equal, args.slower);
    fs::write(args.folder.join("splits.csv"), splits_table(&splits))?;
    let judged: Result<Vec<String>, _> = splits.par_iter().map(|s| judge(&runs, s)).collect();
    let header =
        "split,verdict,findings,regressions,target_first,any_1,any_10,target_1,target_10\n";
    fs::write(
        args.folder.join("sto.csv"),
        header.to_owned() + &judged?.concat(),
    )?;
    Ok(())
}

/// Loads all runs as one view. Returns it with the indices of the runs of each build of [`SLOWER`].
fn load(store: &Snapshot) -> Result<(View, Vec<Vec<usize>>), Failure> {
    let mut all: Option<Selection> = None;
    let mut builds = Vec::new();
    for slower in SLOWER {
        let selector: Selector = format!("slower-{slower}").parse()?;
        let selection = select(store, &selector)?;
        let first = all.as_ref().map_or(0, |all| all.profiles.len());
        builds.push((first..first + selection.profiles.len()).collect());
        match &mut all {
            Some(all) => all.profiles.extend(selection.profiles),
            None => all = Some(selection),
        }
    }
    let all = all.ok_or("there are no builds")?;
    Ok((View::load(store, all)?, builds))
}

/// A comparison to make, as indices of runs.
struct Split {
    slower: u32,
    baseline: Vec<usize>,
    candidate: Vec<usize>,
}

fn splits(builds: &[Vec<usize>], equal: usize, slower: usize) -> Vec<Split> {
    let mut random = Random(20_251_121);
    let mut splits = Vec::new();
    for (place, percent) in SLOWER.into_iter().enumerate() {
        for runs in RUNS_A_SIDE {
            for _ in 0..if percent == 0 { equal } else { slower } {
                let mut unchanged = builds[0].clone();
                random.shuffle(&mut unchanged);
                let mut changed = builds[place].clone();
                random.shuffle(&mut changed);
                splits.push(Split {
                    slower: percent,
                    baseline: unchanged[..runs].to_vec(),
                    candidate: match percent {
                        0 => unchanged[runs..2 * runs].to_vec(),
                        _ => changed[..runs].to_vec(),
                    },
                });
            }
        }
    }
    splits
}

fn splits_table(splits: &[Split]) -> String {
    let mut table = "split,slower,runs,baseline,candidate\n".to_owned();
    let places = |runs: &[usize]| -> String {
        let places: Vec<String> = runs.iter().map(usize::to_string).collect();
        places.join(" ")
    };
    for split in splits {
        let (baseline, candidate) = (places(&split.baseline), places(&split.candidate));
        let id = id(split);
        let _ = writeln!(
            table,
            "{id},{},{},{baseline},{candidate}",
            split.slower,
            split.baseline.len()
        );
    }
    table
}

/// Names a comparison by its runs.
fn id(split: &Split) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let runs = split.baseline.iter().chain(&split.candidate);
    for number in runs.copied().chain([split.slower as usize]) {
        hash = (hash ^ number as u64).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// Makes a comparison, and returns its row of `sto.csv`: the verdict with sto's defaults, then the
/// smallest `alpha` at which sto would report anything (`any_1`, `any_10`) or a slower target
/// (`target_1`, `target_10`), with minimum effects of 1 and 10 %.
fn judge(runs: &View, split: &Split) -> Result<String, Failure> {
    let (baseline, candidate) = (
        side(runs, &split.baseline, "baseline"),
        side(runs, &split.candidate, "candidate"),
    );
    let defaults = compare(&baseline, &candidate, &CompareOptions::default())?;
    let is_worse = |kind: FindingKind| matches!(kind, FindingKind::Regression | FindingKind::New);
    let worse = defaults.findings.iter().filter(|f| is_worse(f.kind));
    let target_first = defaults.verdict == Verdict::Regression
        && defaults
            .findings
            .first()
            .is_some_and(|f| f.function == TARGET);

    let mut options = CompareOptions::default();
    (options.min_effect, options.all) = (0.01, true);
    let tested = compare(&baseline, &candidate, &options)?;
    let any = |effect| {
        least_alpha(
            &tested,
            |_| true,
            |ratio| ratio.ln().abs() > f64::ln_1p(effect),
        )
    };
    let target = |effect| {
        least_alpha(
            &tested,
            |f| f.function == TARGET,
            |ratio| ratio > 1.0 + effect,
        )
    };
    Ok(format!(
        "{},{:?},{},{},{},{},{},{},{}\n",
        id(split),
        defaults.verdict,
        defaults.findings.len(),
        worse.count(),
        u8::from(target_first),
        any(0.01),
        any(0.10),
        target(0.01),
        target(0.10),
    ))
}

/// Returns some of the runs as if they were a build: the program's build id is replaced, and the
/// libraries are unchanged.
fn side(runs: &View, places: &[usize], build_id: &str) -> View {
    let mut selection = runs.selection.clone();
    selection.build.gnu_build_id = None;
    selection.build.version = build_id.to_owned();
    let profile = |&place: &usize| -> StoredProfile { runs.selection.profiles[place].clone() };
    selection.profiles = places.iter().map(profile).collect();
    View {
        selection,
        sample_types: runs.sample_types.clone(),
        frames: runs.frames.clone(),
        tree: runs.tree.clone(),
        runs: places
            .iter()
            .map(|&place| runs.runs[place].clone())
            .collect(),
        windows: Vec::new(),
    }
}

/// Returns the smallest q of the self and total counts of these functions, among the counts that have the minimum share
/// and have shifted; 1 if there are none.
fn least_alpha(
    comparison: &Comparison,
    of: impl Fn(&TestedFunction) -> bool,
    has_shifted: impl Fn(f64) -> bool,
) -> f64 {
    let min_share = comparison.thresholds.min_share;
    let q = |change: &Change| {
        let is_large = change.baseline_share.max(change.candidate_share) >= min_share;
        let shifted = has_shifted(change.change.unwrap_or(f64::INFINITY));
        change.q.filter(|_| is_large && shifted)
    };
    let functions = comparison.functions.iter().flatten().filter(|f| of(f));
    functions
        .flat_map(|f| [q(&f.attributed_self), q(&f.total)])
        .flatten()
        .fold(1.0, f64::min)
}

/// Returns sto's counts by function and run.
fn counts(runs: &View) -> Result<String, Failure> {
    let mut options = CompareOptions::default();
    (options.min_share, options.all) = (0.0, true);
    let last = side(runs, &[runs.runs.len() - 1], "candidate");
    let mut rows = std::collections::BTreeMap::new();
    let mut totals = Vec::new();
    for run in 0..runs.runs.len() {
        let comparison = compare(&side(runs, &[run], "baseline"), &last, &options)?;
        totals.push(comparison.baseline.samples);
        for function in comparison.functions.into_iter().flatten() {
            let name = format!("{} [{}]", function.function, function.module);
            for (kind, change) in [("a", function.attributed_self), ("t", function.total)] {
                let row = rows.entry((kind, name.clone())).or_insert_with(Vec::new);
                row.resize(runs.runs.len(), 0);
                row[run] = change.baseline_samples;
            }
        }
    }
    let columns: String = (0..runs.runs.len()).map(|run| format!(",{run}")).collect();
    let numbers = |row: &[u64]| -> String { row.iter().map(|n| format!(",{n}")).collect() };
    let mut table = format!("kind,function{columns}\nn,all{}\n", numbers(&totals));
    for ((kind, name), row) in &rows {
        if row.iter().any(|&samples| samples > 0) {
            let name = name.replace(['"', ','], "_");
            let _ = writeln!(table, "{kind},\"{name}\"{}", numbers(row));
        }
    }
    Ok(table)
}

/// Marsaglia, Xorshift RNGs (2003).
struct Random(u64);

impl Random {
    fn shuffle(&mut self, places: &mut [usize]) {
        for last in (1..places.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            places.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}
