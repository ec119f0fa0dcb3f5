//! Which build of a history a command judges, and by what.

use clap::Args;
use sto_query::questions::JudgedRequest;

/// The build that a command judges, and the builds that tell what to expect of it.
#[derive(Debug, Args)]
pub(crate) struct JudgedArgs {
    /// Judge the build of this profile instead of the newest build: its id, or the start of it
    #[arg(long, value_name = "ID")]
    at: Option<String>,

    /// Expect what this many builds before show; of a program with one build, this many runs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    window: u16,
}

impl JudgedArgs {
    /// The same for the library.
    pub(crate) fn request(&self) -> JudgedRequest {
        let mut request = JudgedRequest::default();
        request.at.clone_from(&self.at);
        request.window = usize::from(self.window);
        request
    }
}
