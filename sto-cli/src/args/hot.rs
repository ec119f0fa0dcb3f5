//! The build whose costs are shown in source.

use super::FilterArgs;
use clap::Args;
use std::ffi::OsString;
use sto_query::internal::hot::HotRequest;
use sto_query::sources::BuildRef;

/// Which build's costs are shown in source.
#[derive(Debug, Args)]
pub(crate) struct HotArgs {
    /// Take the profiles of this build, profile or file: `[EXE@]BUILD`, ID or PATH [default: the newest commit
    /// up to HEAD that has profiles, otherwise the newest build]
    #[arg(long = "build", value_name = "SELECTOR")]
    selector: Option<OsString>,

    #[command(flatten)]
    filter: FilterArgs,
}

impl HotArgs {
    /// Converts the arguments to a request.
    pub(crate) fn request(&self) -> HotRequest {
        let mut request = HotRequest::default();
        request.named = self.selector.as_ref().map(BuildRef::from);
        request.filter = self.filter.filter();
        request
    }
}
