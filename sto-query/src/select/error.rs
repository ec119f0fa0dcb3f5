//! Errors of selectors.

use super::benchmark_runs::BenchmarkRuns;
use super::{MIN_PREFIX, listed, there_are};
use crate::text::{format_count, printable};
use sto_core::Hint;
use sto_core::store::StoreError;

/// The reason why a selector does not identify profiles.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text names no build.
    #[error("`{}` does not name a build; write BUILD, EXE@BUILD, or the id of a profile", printable(.text))]
    Malformed {
        /// The text that the user typed.
        text: String,
    },
    /// The text is no list of label matchers.
    #[error(
        "`{}` is no list of label matchers such as {{service_name=\"shop\", version=~\"v1.*\"}}: at byte {at}, expected \
         {expected}",
        printable(.text)
    )]
    Matchers {
        /// The text that the user typed.
        text: String,
        /// Position in the text.
        at: usize,
        /// What was expected there.
        expected: String,
    },
    /// No run has these labels, or none of them was recorded in that time.
    #[error("no run has the labels {}{}", printable(.labels), if *.is_in_time { " in that time" } else { "" })]
    NoLabelledRun {
        /// The label matchers.
        labels: String,
        /// Whether only a part of the time was selected.
        is_in_time: bool,
    },
    /// The runs with these labels are of several programs, but the question is about one.
    #[error("the runs with the labels {} are of several programs, but only one is allowed: {}", printable(.labels), listed(.programs))]
    LabelledPrograms {
        /// The label matchers.
        labels: String,
        /// The programs.
        programs: Vec<String>,
    },
    /// The store has no profile at all.
    #[error("the store has no profiles yet")]
    EmptyStore,
    /// No build or profile has this name.
    #[error(
        "no build or profile is called `{}`; {}{}",
        printable(.selector),
        there_are(.known, *.more),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NotFound {
        /// The text that the user typed.
        selector: String,
        /// Existing builds, as `EXE@BUILD`.
        known: Vec<String>,
        /// Number of builds that are missing in `known`.
        more: usize,
        /// The build with the most similar name, if there is one.
        closest: Option<String>,
    },
    /// Several executables have a build of this version, or of this tag.
    #[error(
        "several executables have a build `{}`; name one as EXE@BUILD: {}",
        printable(.version),
        listed(.candidates)
    )]
    SeveralExecutables {
        /// The text that the user typed.
        version: String,
        /// The builds, as `EXE@BUILD`.
        candidates: Vec<String>,
    },
    /// The runs have several benchmarks.
    #[error("{} has runs of several benchmarks, which did different work: {benchmarks}", listed(.builds))]
    SeveralBenchmarks {
        /// The builds, as `EXE@BUILD`.
        builds: Vec<String>,
        /// The benchmarks of their runs.
        benchmarks: BenchmarkRuns,
    },
    /// A build has no run of the benchmark.
    #[error("{} has no runs of benchmark `{}`, only of {known}", printable(.build), printable(.benchmark))]
    NoBenchmark {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The names that the user typed.
        benchmark: String,
        /// The benchmarks of its runs.
        known: BenchmarkRuns,
    },
    /// A build was selected by its age, in a store with several programs.
    #[error("the store has several programs; select one of them: {}", listed(.candidates))]
    SeveralPrograms {
        /// The text that the user typed.
        selector: String,
        /// The selectors for each program.
        candidates: Vec<String>,
    },
    /// Too few builds have a recording time.
    #[error(
        "`{}` does not exist: {}",
        printable(.selector),
        match &known[..] {
            [] => "no run has a recording time".to_owned(),
            [one] => format!("{} is the only build with a recording time", printable(one)),
            known => format!(
                "{} builds have a recording time, the oldest is {}",
                known.len(),
                printable(&known[known.len() - 1])
            ),
        }
    )]
    TooFewBuilds {
        /// The text that the user typed.
        selector: String,
        /// Builds with a recording time, newest first.
        known: Vec<String>,
    },
    /// The revision is not a commit's id, and git was not asked to resolve it.
    #[error("`{}` is not a commit id", printable(.revision))]
    UnresolvedRevision {
        /// The text after `git:`.
        revision: String,
    },
    /// No build was made of this commit.
    #[error(transparent)]
    NoBuildOfCommit(Box<NoBuildOfCommit>),
    /// Several builds were made of this commit.
    #[error("several builds are of `{}`; name one: {}", printable(.revision), listed(.candidates))]
    SeveralOfCommit {
        /// The text after `git:`.
        revision: String,
        /// The builds, as `EXE@BUILD`.
        candidates: Vec<String>,
    },
    /// No build was made of a commit of this range.
    #[error(transparent)]
    NoBuildInRange(Box<NoBuildInRange>),
    /// Several builds were made of commits of a range, but only one is allowed.
    #[error(
        "several builds are of commits in `{}`, but only one is allowed: {}{}",
        printable(.range),
        listed(.candidates),
        if *.more == 0 { String::new() } else { format!(" and {} more", .more) }
    )]
    SeveralInRange {
        /// The text after `git:`.
        range: String,
        /// The builds, as `EXE@BUILD`.
        candidates: Vec<String>,
        /// Number of builds that are missing in `candidates`.
        more: usize,
    },
    /// The prefix of an id has too few digits.
    #[error(
        "`{}` is too short for the start of an id: write at least {MIN_PREFIX} digits{}",
        printable(.prefix),
        match &candidates[..] {
            [] => String::new(),
            found => format!("; these begin with it: {}", listed(found)),
        }
    )]
    ShortPrefix {
        /// The text that the user typed.
        prefix: String,
        /// Ids with this prefix.
        candidates: Vec<String>,
    },
    /// Several ids have this prefix.
    #[error("several ids begin with `{prefix}`; write more of the one you mean: {}", listed(.candidates))]
    AmbiguousPrefix {
        /// The text that the user typed.
        prefix: String,
        /// Builds and profiles with this prefix.
        candidates: Vec<String>,
    },
}

/// The error for a range of commits without a build.
#[derive(Debug, thiserror::Error)]
#[error(
    "no build is of a commit in `{}`, which has {}{}{}",
    printable(.range),
    format_count(*.commits as u64, "commit"),
    match &with_changes[..] {
        [] => String::new(),
        changed => format!("; these builds had uncommitted changes: {}", listed(changed)),
    },
    match &known[..] {
        [] => String::new(),
        known => format!("; {}", there_are(known, *more)),
    }
)]
#[non_exhaustive]
pub struct NoBuildInRange {
    /// The text after `git:`.
    pub(crate) range: String,
    /// Number of commits in it.
    pub(crate) commits: usize,
    /// Builds of these commits with uncommitted changes.
    pub(crate) with_changes: Vec<String>,
    /// Other builds, with their revisions.
    pub(crate) known: Vec<String>,
    /// Number of builds that are missing in `known`.
    pub(crate) more: usize,
}

impl SelectError {
    /// Returns a hint for fixing the error.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            SelectError::Store(error) => error.hint(),
            SelectError::EmptyStore => Some(Hint::AddProfile),
            SelectError::SeveralBenchmarks { .. } => Some(Hint::NameBenchmark),
            _ => None,
        }
    }
}

/// The error for a commit without a build.
#[derive(Debug, thiserror::Error)]
#[error(
    "no build is of `{}`{}{}{}",
    printable(.revision),
    if commit == revision { String::new() } else { format!(", commit {commit}") },
    match &with_changes[..] {
        [] => String::new(),
        changed => format!("; these builds had uncommitted changes: {}", listed(changed)),
    },
    match &known[..] {
        [] => String::new(),
        known => format!("; {}", there_are(known, *more)),
    }
)]
#[non_exhaustive]
pub struct NoBuildOfCommit {
    /// The text after `git:`.
    pub(crate) revision: String,
    /// The commit that the revision was resolved to.
    pub(crate) commit: String,
    /// Builds of this commit with uncommitted changes.
    pub(crate) with_changes: Vec<String>,
    /// Other builds, with their revisions.
    pub(crate) known: Vec<String>,
    /// Number of builds that are missing in `known`.
    pub(crate) more: usize,
}
