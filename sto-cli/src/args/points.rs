//! Points of models: files and drawings of them, and bins of x.

use crate::runtime::output::write_file;
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

/// Writes a drawing into a file, as a page if its name ends in `.html`, otherwise as SVG.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(crate) fn write_drawing(
    path: &Path,
    html: impl FnOnce() -> String,
    svg: impl FnOnce() -> String,
) -> Result<(), CliError> {
    let is_page = path
        .extension()
        .is_some_and(|name| name.eq_ignore_ascii_case("html"));
    let drawing = if is_page { html() } else { svg() };
    write_file(path, drawing.as_bytes())
}

/// Bins of x.
#[derive(Debug, Args)]
pub(crate) struct BinsArg {
    /// Gather points whose x are never equal in N bins: equal-width=N or equal-count=N. Points of a bin get its mean x
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
