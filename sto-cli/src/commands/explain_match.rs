//! `sto explain-match`: explains whether two symbols are matched as one function.

use crate::args::MatchingArgs;
use crate::runtime::{CliError, FormatArg, Outcome};
use clap::Args;
use sto_query::questions::explain_match;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto explain-match parse.constprop.0 parse.cold
  sto explain-match 'run::{closure#1}' 'run::{closure#2}'
  sto explain-match 'parse<Json>' 'parse<Xml>' --ignore-template-arguments

Exit status: 0 the symbols match, 1 they do not, 2 wrong usage or failure.";

/// Explain whether two symbols count as one function in a comparison, and by which rules
///
/// Compilers put details into symbols that change from build to build although the function does not. Each
/// rule removes some of them; symbols match if the results are equal. Symbols may be mangled. In
/// find-regressions, modules have to match too: both are the main program, or their files have the same name.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ExplainMatchArgs {
    /// A function's name in one build
    #[arg(value_name = "SYMBOL")]
    first: String,

    /// A function's name in the other build
    #[arg(value_name = "SYMBOL")]
    second: String,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ExplainMatchArgs) -> Result<Outcome, CliError> {
    let report = explain_match(&args.first, &args.second, args.matching.options());
    args.format.print(&report, render::explain_match::text)?;
    Ok(if report.matches {
        Outcome::Clean
    } else {
        Outcome::NoMatch
    })
}
