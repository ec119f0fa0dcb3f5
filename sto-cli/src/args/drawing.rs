//! Drawings: what they show, where they go, and what is said of them.

use crate::args::{choice, word};
use crate::runtime::{CliError, FormatArg, output};
use clap::Args;
use clap::builder::PossibleValue;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use sto_query::questions::{DrawingOptions, Drawn};
use sto_query::render;
use sto_query::render::drawing::DrawnFile;
use sto_query::render::flame::Palette;
use sto_query::tree::RootsBy;

/// What a drawing shows, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct DrawingArgs {
    /// Write the drawing to this file, as a page where it ends in .html, else as SVG; `-` is standard output,
    /// and so is no file at all in a pipe
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    stacks: StacksArgs,

    #[command(flatten)]
    format: FormatArg,
}

/// What a drawing shows.
#[derive(Debug, Args)]
pub(crate) struct StacksArgs {
    /// Draw only stacks that have this function: its name, a part of it, or `re:` and a regular expression
    #[arg(long, value_name = "FUNCTION", allow_hyphen_values = true)]
    focus: Option<String>,

    /// Draw no stack that has this function, named as for --focus
    #[arg(long, value_name = "FUNCTION", allow_hyphen_values = true)]
    ignore: Option<String>,

    /// Draw the functions that cost by themselves on top, and their callers below
    #[arg(long)]
    inverted: bool,

    /// Draw stacks below a frame for each thread, or for each value of a label of samples or runs
    #[arg(long, value_name = "thread|label:KEY")]
    by: Option<RootsBy>,

    /// Take these colours
    #[arg(long, default_value = "standard", value_parser = choice::<Palette>([
        PossibleValue::new("standard"),
        word("colorblind", "Distinct for readers with any kind of colour vision"),
    ]))]
    palette: Palette,
}

impl DrawingArgs {
    /// Refuses to draw on a terminal, before any work is done.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if self.output.is_none() && io::stdout().is_terminal() {
            return Err(CliError::DrawingOnTerminal);
        }
        Ok(())
    }

    /// The same for the library.
    pub(crate) fn options(&self) -> DrawingOptions {
        let mut options = self.stacks.options();
        if let Some(file) = &self.output {
            options.for_file(file);
        }
        options
    }

    /// Writes the drawing, and if it went into a file what it shows to standard output.
    pub(crate) fn write(&self, drawn: Drawn) -> Result<(), CliError> {
        let Some(file) = output::file(self.output.as_deref()) else {
            return output::write_stdout(drawn.drawing.as_bytes());
        };
        write(drawn, file, &self.format)
    }
}

impl StacksArgs {
    /// The same for the library.
    pub(crate) fn options(&self) -> DrawingOptions {
        let mut options = DrawingOptions::default();
        options.focus.clone_from(&self.focus);
        options.ignore.clone_from(&self.ignore);
        options.inverted = self.inverted;
        options.by.clone_from(&self.by);
        options.palette = self.palette;
        options
    }
}

/// Writes a drawing into a file, and what it shows to standard output.
pub(crate) fn write(drawn: Drawn, file: &Path, format: &FormatArg) -> Result<(), CliError> {
    output::write_file(file, drawn.drawing.as_bytes())?;
    let report = DrawnFile {
        file: file.display().to_string(),
        subjects: drawn.subjects,
        new_outliers: drawn.new_outliers,
    };
    format.print(&report, render::drawing::text)
}
