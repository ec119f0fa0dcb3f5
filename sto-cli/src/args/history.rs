//! Which runs a command on histories is about.

use crate::args::benchmark::BenchmarkArg;
use crate::args::matching::MatchingArgs;
use crate::runtime::error::CliError;
use crate::runtime::store_path::StorePath;
use clap::Args;
use sto_core::store::Store;
use sto_query::history::{History, HistoryQuery};

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
    /// Loads the runs.
    pub(crate) fn load(&self, place: &StorePath) -> Result<History, CliError> {
        Ok(History::load(
            &Store::open_snapshot(&place.folder)?,
            &self.query(),
        )?)
    }

    /// Loads the runs of every program.
    pub(crate) fn load_all(&self, place: &StorePath) -> Result<Vec<History>, CliError> {
        let store = Store::open_snapshot(&place.folder)?;
        Ok(History::load_all(&store, &self.query())?)
    }

    fn query(&self) -> HistoryQuery {
        HistoryQuery {
            executable: self.exe.clone(),
            benchmark: self.benchmark.name().map(str::to_owned),
            event: self.event.clone(),
            matching: self.matching.options(),
        }
    }
}
