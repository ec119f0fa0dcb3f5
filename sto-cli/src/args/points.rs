//! Points of models: files of them, and bins of x.

use crate::runtime::{CliError, text};
use clap::Args;
use std::path::Path;
use sto_query::statistics::models::Bins;

/// Size limit of a table, in bytes: about 20 million points.
const MAX_TABLE: u64 = 1 << 30;

/// Reads a file of points; `-` is standard input.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(crate) fn read_points(path: &Path) -> Result<String, CliError> {
    text::read_or_stdin(path, MAX_TABLE).map_err(|source| CliError::ReadFile {
        path: path.to_owned(),
        source,
    })
}

/// Bins of x.
#[derive(Debug, Args)]
pub(crate) struct BinsArg {
    /// Gather points whose x are never equal: equal-width=N bins, or equal-count=N bins; each becomes one x
    #[arg(long, value_name = "HOW=NUMBER", value_parser = bins)]
    pub(crate) bins: Option<Bins>,
}

fn bins(text: &str) -> Result<Bins, &'static str> {
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let bins = match text.split_once('=') {
        Some(("equal-width", value)) => number(value).map(Bins::EqualWidth),
        Some(("equal-count", value)) => number(value).map(Bins::EqualCount),
        _ => None,
    };
    bins.ok_or("expected equal-width=N or equal-count=N, such as equal-count=20")
}
