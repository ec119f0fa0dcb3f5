//! SVG drawings: where they go, and what is said of them.

use crate::error::CliError;
use crate::output::{self, FormatArg};
use crate::select::EVENT;
use clap::Args;
use serde::Serialize;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use sto_query::render::printable;
use sto_query::tree::View;

/// Where a drawing goes.
#[derive(Debug, Args)]
pub(crate) struct DrawingArgs {
    /// Write the SVG to this file; `-` is standard output, and so is no file at all in a pipe
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

/// What was drawn: the summary beside a drawing that went into a file.
#[derive(Debug, Serialize)]
pub(crate) struct Drawing {
    schema: &'static str,
    file: Option<String>,
    builds: Vec<Drawn>,
}

#[derive(Debug, Serialize)]
struct Drawn {
    executable: String,
    build: String,
    event: Option<String>,
    samples: u64,
}

impl Drawing {
    /// A drawing of some views.
    pub(crate) fn of(schema: &'static str, views: &[&View]) -> Self {
        let drawn = |view: &&View| Drawn {
            executable: view.selection.build.executable.clone(),
            build: view.selection.build.version.clone(),
            event: view
                .sample_types
                .get(EVENT)
                .map(|known| known.event.clone()),
            samples: view.self_costs(EVENT).iter().map(|cost| cost.samples).sum(),
        };
        Drawing {
            schema,
            file: None,
            builds: views.iter().map(drawn).collect(),
        }
    }

    /// `demo@v1: 120 samples of cpu-clock`, for every build.
    fn description(&self) -> String {
        let parts = self.builds.iter().map(|drawn| {
            let name = format!(
                "{}@{}: {} samples",
                drawn.executable, drawn.build, drawn.samples
            );
            match &drawn.event {
                Some(event) => format!("{name} of {event}"),
                None => name,
            }
        });
        parts.collect::<Vec<_>>().join(" → ")
    }
}

impl DrawingArgs {
    /// Refuses to draw on a terminal, before any work is done.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if self.output.is_none() && io::stdout().is_terminal() {
            return Err(CliError::DrawingOnTerminal);
        }
        Ok(())
    }

    fn file(&self) -> Option<&Path> {
        let file = self.output.as_deref()?;
        (file.as_os_str() != OsStr::new("-")).then_some(file)
    }

    /// Writes the drawing, and if it went into a file what it shows to standard output.
    pub(crate) fn finish(&self, mut drawing: Drawing, svg: &[u8]) -> Result<(), CliError> {
        let Some(file) = self.file() else {
            return output::write_stdout(svg);
        };
        output::write_file(file, svg)?;
        let name = file.display().to_string();
        drawing.file = Some(name.clone());
        self.format.print(&drawing, |drawing, _| {
            let (name, drawn) = (printable(&name), drawing.description());
            format!("wrote {name}: {}\n", printable(&drawn))
        })
    }
}
