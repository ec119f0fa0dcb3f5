//! Which function inlined code counts for.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InlinedArg {
    /// Count inlined functions apart from those that they were compiled into
    #[arg(long)]
    pub(crate) inlined: bool,
}
