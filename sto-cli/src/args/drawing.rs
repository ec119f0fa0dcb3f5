//! Options for drawings: their stacks, colours and file.

use crate::args::{choice, word};
use crate::runtime::{CliError, FormatArg, output};
use clap::Args;
use clap::builder::PossibleValue;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use sto_query::questions::{DrawnStacks, FlameStacks, RootsBy};
use sto_query::render::drawing::DrawnFile;
use sto_query::render::flame::{FlameOptions, Palette};
use sto_query::results::Subject;
use sto_query::sources::EVENT;
use sto_query::{QueryError, render};

/// Options of commands that draw a flame graph.
#[derive(Debug, Args)]
pub(crate) struct DrawingArgs {
    /// Write the drawing to this file, as a page if its name ends in .html, otherwise as SVG; `-` is standard
    /// output, which is the default in a pipe
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    stacks: StacksArgs,

    #[command(flatten)]
    format: FormatArg,
}

/// The stacks that a drawing shows, and its colours.
#[derive(Debug, Args)]
pub(crate) struct StacksArgs {
    /// Draw only stacks that contain this function: its name, part of it, or `re:` and a regular expression
    #[arg(long, value_name = "FUNCTION", allow_hyphen_values = true)]
    focus: Option<String>,

    /// Leave out stacks that contain this function, named as for --focus
    #[arg(long, value_name = "FUNCTION", allow_hyphen_values = true)]
    ignore: Option<String>,

    /// Invert the graph: start at the functions with self cost and branch into their callers
    #[arg(long)]
    inverted: bool,

    /// Group stacks by thread, or by the value of a label of samples or runs
    #[arg(long, value_name = "thread|label:KEY")]
    by: Option<RootsBy>,

    /// Use these colours
    #[arg(long, default_value = "standard", value_parser = choice::<Palette>([
        PossibleValue::new("standard"),
        word("colorblind", "Distinct for readers with any kind of colour vision"),
    ]))]
    palette: Palette,
}

impl DrawingArgs {
    /// Returns an error if the drawing would be written to a terminal.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if self.output.is_none() && io::stdout().is_terminal() {
            return Err(CliError::DrawingOnTerminal);
        }
        Ok(())
    }

    /// The stacks to draw.
    pub(crate) fn stacks(&self) -> DrawnStacks {
        self.stacks.stacks()
    }

    /// The options for drawing them: as a page if the file's name ends in `.html`.
    pub(crate) fn options(&self) -> FlameOptions {
        let output = self.output.as_deref();
        FlameOptions {
            as_page: output.is_some_and(|file| output::ends_in(file, "html")),
            ..self.stacks.options()
        }
    }

    /// Writes the drawing. If it goes to a file, prints which profiles it shows.
    pub(crate) fn write(&self, drawn: Drawn) -> Result<(), CliError> {
        drawn.write(self.output.as_deref(), &self.format)
    }
}

impl StacksArgs {
    /// The stacks to draw.
    pub(crate) fn stacks(&self) -> DrawnStacks {
        let mut stacks = DrawnStacks::default();
        stacks.focus.clone_from(&self.focus);
        stacks.ignore.clone_from(&self.ignore);
        stacks.by.clone_from(&self.by);
        stacks
    }

    /// The options for drawing them.
    pub(crate) fn options(&self) -> FlameOptions {
        FlameOptions {
            inverted: self.inverted,
            palette: self.palette,
            ..FlameOptions::default()
        }
    }
}

/// Draws a flame graph.
pub(crate) fn draw_flame(stacks: FlameStacks, options: FlameOptions) -> Result<Drawn, CliError> {
    let options = FlameOptions {
        focus: stacks.focus,
        ignore: stacks.ignore,
        ..options
    };
    Ok(Drawn {
        drawing: render::flame::svg((&stacks.view, EVENT), &options).map_err(QueryError::from)?,
        subjects: vec![Subject::new(&stacks.view, EVENT)],
        new_outliers: None,
    })
}

/// A drawing, and the profiles in it.
pub(crate) struct Drawn {
    /// SVG or HTML.
    pub(crate) drawing: String,
    /// The profiles that it shows.
    pub(crate) subjects: Vec<Subject>,
    /// A sentence about calls that took unusually long only in the candidate.
    pub(crate) new_outliers: Option<String>,
}

impl Drawn {
    /// Writes the drawing. If it goes to a file, prints to standard output which profiles it shows.
    pub(crate) fn write(self, file: Option<&Path>, format: &FormatArg) -> Result<(), CliError> {
        let Some(file) = output::file(file) else {
            return output::write_stdout(self.drawing.as_bytes());
        };
        output::write_file(file, self.drawing.as_bytes())?;
        let report = DrawnFile {
            file: file.display().to_string(),
            subjects: self.subjects,
            new_outliers: self.new_outliers,
        };
        format.print(&report, render::drawing::text)
    }
}
