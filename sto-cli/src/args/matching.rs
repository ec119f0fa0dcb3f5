//! Which functions of two builds are one, for every command that matches them.

use clap::Args;
use sto_query::functions::KeyOptions;

/// How functions are matched.
#[derive(Debug, Args)]
pub(crate) struct MatchingArgs {
    /// Take functions for the same only if their symbols are, numbers and hashes of compilers included
    #[arg(long, conflicts_with = "ignore_template_arguments")]
    exact_symbols: bool,

    /// Take instantiations of one template, generic function or type for one function
    #[arg(long)]
    ignore_template_arguments: bool,
}

impl MatchingArgs {
    /// The same for the library.
    pub(crate) fn options(&self) -> KeyOptions {
        let mut options = KeyOptions::default();
        options.exact_symbols = self.exact_symbols;
        options.ignore_template_arguments = self.ignore_template_arguments;
        options
    }
}
