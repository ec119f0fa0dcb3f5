//! Which function inlined code counts for.

use clap::Args;
use sto_query::tree::View;

#[derive(Debug, Args)]
pub(crate) struct InlinedArg {
    /// Count inlined functions apart from those that they were compiled into
    #[arg(long)]
    inlined: bool,
}

impl InlinedArg {
    /// The stacks as they are, or without inlined frames.
    pub(crate) fn of(&self, view: View) -> View {
        match self.inlined {
            true => view,
            false => view.without_inlined(),
        }
    }
}
