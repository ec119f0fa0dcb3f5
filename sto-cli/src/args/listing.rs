//! Which builds or runs a command lists.

use crate::args::quantities::since;
use crate::runtime::environment::now;
use clap::Args;
use sto_core::units::UnixSeconds;
use sto_query::listing::Listing;

/// What a list is of; newest first.
#[derive(Debug, Args)]
pub(crate) struct ListingArgs {
    /// List this many at most, of the newest; 0 lists all
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,

    /// List runs of this program only
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    /// List runs of this benchmark only
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,

    /// List only what was recorded since then: an age (36h, 7d, 12w, 1y), or a day or time in UTC
    /// (2026-03-01, 2026-03-01T12:30)
    #[arg(long, value_name = "WHEN", value_parser = |text: &str| since(text, now()))]
    since: Option<UnixSeconds>,
}

impl ListingArgs {
    /// The same for the library.
    pub(crate) fn listing(&self) -> Listing {
        let mut listing = Listing::default();
        listing.executable.clone_from(&self.exe);
        listing.benchmark.clone_from(&self.benchmark);
        listing.since = self.since;
        listing.limit = self.limit.filter(|&limit| limit > 0);
        listing
    }
}
