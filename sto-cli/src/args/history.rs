//! Options of commands that look at many runs, and the run that they judge.

use super::quantities::since;
use super::select::{BenchmarkArg, MatchingArgs};
use crate::runtime::git::Repository;
use crate::runtime::{CliError, now};
use clap::{Args, ValueEnum};
use sto_core::units::UnixSeconds;
use sto_query::questions::{HistoryQuery, JudgedRequest, Listing};

/// The runs that a command follows.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Follow runs of this program; required if several programs have runs of the benchmark
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    /// Look at this event instead of the one that most runs measured
    #[arg(long, value_name = "NAME")]
    event: Option<String>,

    /// Order builds by their first runs, or by the commits up to HEAD that they were built from; the latter leaves out
    /// other builds
    #[arg(long, value_enum, default_value = "time")]
    order: BuildOrder,

    #[command(flatten)]
    matching: MatchingArgs,
}

/// The order of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BuildOrder {
    Time,
    Commits,
}

impl HistoryArgs {
    /// Converts the arguments to a query.
    ///
    /// # Errors
    /// Returns an error if the order is by commits and git cannot list them.
    pub(crate) fn query(&self) -> Result<HistoryQuery, CliError> {
        let mut query = HistoryQuery::default();
        query.executable.clone_from(&self.exe);
        query.benchmarks.clone_from(&self.benchmark.benchmarks);
        query.event.clone_from(&self.event);
        query.matching = self.matching.options();
        if self.order == BuildOrder::Commits {
            query.ancestry = Some(Repository::here()?.ancestry("HEAD")?);
        }
        Ok(query)
    }
}

/// The build that a command judges, and how many builds predict it.
#[derive(Debug, Args)]
pub(crate) struct JudgedArgs {
    /// Judge the build of this profile instead of the newest build: its id, or the start of its id
    #[arg(long, value_name = "ID")]
    at: Option<String>,

    /// Predict from this many previous builds; for a program with only one build, from this many runs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    window: u16,

    /// Predict from this many previous runs, also if there was a level shift among them
    #[arg(long, value_name = "N", conflicts_with = "window", value_parser = clap::value_parser!(u16).range(2..))]
    window_runs: Option<u16>,
}

impl JudgedArgs {
    /// Converts the arguments to a request.
    pub(crate) fn request(&self) -> JudgedRequest {
        let mut request = JudgedRequest::default();
        request.at.clone_from(&self.at);
        request.window = usize::from(self.window);
        request.window_runs = self.window_runs.map(usize::from);
        request
    }
}

/// The runs that a command lists, newest first.
#[derive(Debug, Args)]
pub(crate) struct ListingArgs {
    /// List at most this many, the newest; 0 lists all
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,

    /// List runs of this program only
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    /// List runs of this benchmark only; `*` stands for any text; may be given several times
    #[arg(long = "benchmark", value_name = "NAME")]
    benchmarks: Vec<String>,

    /// List only runs that were recorded since this age (36h, 7d, 12w, 1y), day or time in UTC
    /// (2026-03-01, 2026-03-01T12:30)
    #[arg(long, value_name = "WHEN", value_parser = |text: &str| since(text, now()))]
    since: Option<UnixSeconds>,
}

impl ListingArgs {
    /// Converts the arguments to a listing.
    pub(crate) fn listing(&self) -> Listing {
        let mut listing = Listing::default();
        listing.executable.clone_from(&self.exe);
        listing.benchmarks.clone_from(&self.benchmarks);
        listing.since = self.since;
        listing.limit = self.limit.filter(|&limit| limit > 0);
        listing
    }
}
