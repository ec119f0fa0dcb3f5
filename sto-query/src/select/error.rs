//! Why a selector names nothing, or too much.

use super::benchmark_runs::BenchmarkRuns;
use super::{MIN_PREFIX, listed, there_are};
use crate::text::{counted, printable};
use sto_core::Hint;
use sto_core::store::StoreError;

/// Why a selector names nothing, or too much.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text names no build.
    #[error("`{}` names no build; write BUILD, EXE@BUILD, or the id of a profile", printable(.text))]
    Malformed {
        /// What was written.
        text: String,
    },
    /// The store has no profile at all.
    #[error("the store has no profiles yet")]
    EmptyStore,
    /// Nothing has this name.
    #[error(
        "no build or profile is called `{}`; {}{}",
        printable(.selector),
        there_are(.known, *.more),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NotFound {
        /// What was asked for.
        selector: String,
        /// Builds that there are, as `EXE@BUILD`.
        known: Vec<String>,
        /// Number of builds that `known` leaves out.
        more: usize,
        /// The build whose name is closest, if any is close.
        closest: Option<String>,
    },
    /// Several executables have a build of this version, or of this tag.
    #[error(
        "several executables have a build `{}`; name one as EXE@BUILD: {}",
        printable(.version),
        listed(.candidates)
    )]
    SeveralExecutables {
        /// What was asked for.
        version: String,
        /// The builds, as `EXE@BUILD`.
        candidates: Vec<String>,
    },
    /// What was asked for is of several benchmarks.
    #[error("{} has runs of several benchmarks, which did different work: {benchmarks}", listed(.builds))]
    SeveralBenchmarks {
        /// The builds, as `EXE@BUILD`.
        builds: Vec<String>,
        /// What their runs are of.
        benchmarks: BenchmarkRuns,
    },
    /// A build has no run of the benchmark.
    #[error("{} has no runs of benchmark `{}`, but of {known}", printable(.build), printable(.benchmark))]
    NoBenchmark {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// What was asked for.
        benchmark: String,
        /// What its runs are of.
        known: BenchmarkRuns,
    },
    /// A build by its age was asked for, of a store with several programs.
    #[error("the store has several programs; write the one that you mean: {}", listed(.candidates))]
    SeveralPrograms {
        /// What was asked for.
        selector: String,
        /// The same of each program.
        candidates: Vec<String>,
    },
    /// There are not as many builds with a time of recording.
    #[error(
        "`{}` is no build: {}",
        printable(.selector),
        match &known[..] {
            [] => "no run says when it was recorded".to_owned(),
            [one] => format!("{} is the only one that says when it was recorded", printable(one)),
            known => format!(
                "{} builds say when they were recorded, {} the first",
                known.len(),
                printable(&known[known.len() - 1])
            ),
        }
    )]
    TooFewBuilds {
        /// What was asked for.
        selector: String,
        /// Builds that say when they were recorded, newest first.
        known: Vec<String>,
    },
    /// A revision is no commit's id, and nobody asked git which it is.
    #[error("`{}` is no commit's id", printable(.revision))]
    UnresolvedRevision {
        /// What follows `git:`.
        revision: String,
    },
    /// No build was made of this commit.
    #[error(transparent)]
    NoBuildOfCommit(Box<NoBuildOfCommit>),
    /// Several builds were made of this commit.
    #[error("several builds are of `{}`; name one: {}", printable(.revision), listed(.candidates))]
    SeveralOfCommit {
        /// What follows `git:`.
        revision: String,
        /// The builds, as `EXE@BUILD`.
        candidates: Vec<String>,
    },
    /// No build was made of a commit of this range.
    #[error(transparent)]
    NoBuildInRange(Box<NoBuildInRange>),
    /// Several builds were made of commits of a range, where one is meant.
    #[error(
        "several builds are of commits in `{}`, and one is meant: {}{}",
        printable(.range),
        listed(.candidates),
        if *.more == 0 { String::new() } else { format!(" and {} more", .more) }
    )]
    SeveralInRange {
        /// What follows `git:`.
        range: String,
        /// The builds, as `EXE@BUILD`.
        candidates: Vec<String>,
        /// Number of builds that `candidates` leaves out.
        more: usize,
    },
    /// The start of an id has too few digits.
    #[error(
        "`{}` is too short for the start of an id: write at least {MIN_PREFIX} digits{}",
        printable(.prefix),
        match &candidates[..] {
            [] => String::new(),
            found => format!("; so begin {}", listed(found)),
        }
    )]
    ShortPrefix {
        /// What was asked for.
        prefix: String,
        /// Ids that begin like this.
        candidates: Vec<String>,
    },
    /// Several ids begin like this.
    #[error("several ids begin with `{prefix}`; write more of the one you mean: {}", listed(.candidates))]
    AmbiguousPrefix {
        /// What was asked for.
        prefix: String,
        /// What begins like this.
        candidates: Vec<String>,
    },
}

/// That no build was made of a commit of a range.
#[derive(Debug, thiserror::Error)]
#[error(
    "no build is of a commit in `{}`, which has {}{}{}",
    printable(.range),
    counted(*.commits as u64, "commit"),
    match &with_changes[..] {
        [] => String::new(),
        changed => format!("; not committed changes were in {}", listed(changed)),
    },
    match &known[..] {
        [] => String::new(),
        known => format!("; {}", there_are(known, *more)),
    }
)]
#[non_exhaustive]
pub struct NoBuildInRange {
    /// What follows `git:`.
    pub(crate) range: String,
    /// Number of commits in it.
    pub(crate) commits: usize,
    /// Builds of them with changes that were not committed.
    pub(crate) with_changes: Vec<String>,
    /// Other builds, with their revisions.
    pub(crate) known: Vec<String>,
    /// Number of those that `known` leaves out.
    pub(crate) more: usize,
}

impl SelectError {
    /// What can be done about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            SelectError::Store(error) => error.hint(),
            SelectError::EmptyStore => Some(Hint::AddProfile),
            SelectError::SeveralBenchmarks { .. } => Some(Hint::NameBenchmark),
            _ => None,
        }
    }
}

/// That no build was made of a commit.
#[derive(Debug, thiserror::Error)]
#[error(
    "no build is of `{}`{}{}{}",
    printable(.revision),
    if commit == revision { String::new() } else { format!(", commit {commit}") },
    match &with_changes[..] {
        [] => String::new(),
        changed => format!("; not committed changes were in {}", listed(changed)),
    },
    match &known[..] {
        [] => String::new(),
        known => format!("; {}", there_are(known, *more)),
    }
)]
#[non_exhaustive]
pub struct NoBuildOfCommit {
    /// What follows `git:`.
    pub(crate) revision: String,
    /// The commit that this is.
    pub(crate) commit: String,
    /// Builds of it with changes that were not committed.
    pub(crate) with_changes: Vec<String>,
    /// Other builds, with their revisions.
    pub(crate) known: Vec<String>,
    /// Number of those that `known` leaves out.
    pub(crate) more: usize,
}
