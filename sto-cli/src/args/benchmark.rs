//! Which benchmark a command is about.

use clap::Args;

/// The benchmark whose runs a command takes: those of several did different work.
#[derive(Debug, Args)]
pub(crate) struct BenchmarkArg {
    /// Take only runs of this benchmark, or with an empty name those that name none; needed where
    /// there are runs of several
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,
}

impl BenchmarkArg {
    /// The same for the library.
    pub(crate) fn name(&self) -> Option<&str> {
        self.benchmark.as_deref()
    }
}
