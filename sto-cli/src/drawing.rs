//! SVG drawings: where they go, and what is said of them.

use crate::error::CliError;
use crate::output::{self, FormatArg};
use crate::select::EVENT;
use clap::Args;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use sto_query::compare::Focus;
use sto_query::tree::View;
use sto_query::{render, report};

/// Where a drawing goes.
#[derive(Debug, Args)]
pub(crate) struct DrawingArgs {
    /// Write the SVG to this file; `-` is standard output, and so is no file at all in a pipe
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Draw only stacks that have this function, or one with this in its name
    #[arg(long, value_name = "FUNCTION", allow_hyphen_values = true)]
    focus: Option<String>,

    #[command(flatten)]
    format: FormatArg,
}

impl DrawingArgs {
    /// Refuses to draw on a terminal, before any work is done.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if self.output.is_none() && io::stdout().is_terminal() {
            return Err(CliError::DrawingOnTerminal);
        }
        Ok(())
    }

    /// The functions that were asked for.
    pub(crate) fn focus(&self, views: &[&View]) -> Result<Option<Focus>, CliError> {
        let focus = self.focus.as_ref().map(|name| Focus::new(name, views));
        Ok(focus.transpose()?)
    }

    /// Writes the drawing of these views, and if it went into a file what it shows to standard
    /// output.
    pub(crate) fn write(&self, svg: &[u8], views: &[&View]) -> Result<(), CliError> {
        let Some(file) = output::file(self.output.as_deref()) else {
            return output::write_stdout(svg);
        };
        output::write_file(file, svg)?;
        let views: Vec<_> = views.iter().map(|&view| (view, EVENT)).collect();
        let report = report::drawing(file.display().to_string(), &views);
        self.format.print(&report, render::drawing::text)
    }
}
