//! Which runs a command on histories is about.

use crate::args::benchmark::BenchmarkArg;
use crate::args::matching::MatchingArgs;
use clap::Args;
use sto_query::history::HistoryQuery;

/// The runs that a command follows.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Follow runs of this program; needed where several have runs of the benchmark
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    /// Look at this event instead of the one that most runs measured
    #[arg(long, value_name = "NAME")]
    event: Option<String>,

    #[command(flatten)]
    matching: MatchingArgs,
}

impl HistoryArgs {
    /// The same for the library.
    pub(crate) fn query(&self) -> HistoryQuery {
        let mut query = HistoryQuery::default();
        query.executable.clone_from(&self.exe);
        query.benchmark = self.benchmark.name().map(str::to_owned);
        query.event.clone_from(&self.event);
        query.matching = self.matching.options();
        query
    }
}
