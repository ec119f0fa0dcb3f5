//! Options for the format and destination of findings.

use crate::runtime::{CliError, WORDS, output, ui};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use sto_query::check::{Check, CheckRequest};
use sto_query::render::{self, Detail};
use sto_query::results::Verdict;
use sto_query::text::{self, Colors, Style};

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingsFormat {
    /// For people
    #[default]
    Text,
    /// JSON with all details, for programs
    Json,
    /// Markdown, for a step summary or a comment on a change
    Md,
    /// Annotations of GitHub Actions
    Github,
    /// One page with a differential flame graph and a plot of each finding's runs, for browsers
    Html,
    /// JUnit XML, for any other CI system
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// The choice of a format and a file.
#[derive(Debug, Default, Args)]
pub(crate) struct FindingsOutputArgs {
    /// Write the findings in this format
    #[arg(long, value_enum, default_value = "text")]
    format: FindingsFormat,

    /// Show every finding in full, and how it was tested
    #[arg(short, long)]
    verbose: bool,

    /// Like --verbose, and also show every function that was tested, changed or not
    #[arg(long)]
    all: bool,

    /// Write the findings to this file, and the verdict to standard output; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl FindingsOutputArgs {
    /// Output as an HTML page in a file.
    pub(crate) fn page(file: PathBuf) -> Self {
        FindingsOutputArgs {
            format: FindingsFormat::Html,
            output: Some(file),
            ..FindingsOutputArgs::default()
        }
    }

    /// Asks for the parts of the answer that the format shows.
    pub(crate) fn ask(&self, request: &mut CheckRequest) {
        request.all = self.all || self.format == FindingsFormat::Junit;
        request.stacks = self.format == FindingsFormat::Html;
    }

    /// How the findings are rendered.
    pub(crate) fn rendering(&self) -> Rendering {
        let Style {
            width,
            colors,
            full_names,
            ..
        } = ui::style();
        Rendering {
            format: self.format,
            is_full: self.verbose || self.all,
            is_for_file: output::file(self.output.as_deref()).is_some(),
            full_names,
            width,
            is_colored: colors.is_some(),
            colors: colors.unwrap_or_default(),
        }
    }

    /// Writes the findings of one or more comparisons.
    pub(crate) fn write(&self, rendered: &Rendered) -> Result<(), CliError> {
        let Some(file) = output::file(self.output.as_deref()) else {
            return match self.format {
                FindingsFormat::Text => output::show(&rendered.findings),
                _ => output::write_stdout(rendered.findings.as_bytes()),
            };
        };
        output::write_file(file, rendered.findings.as_bytes())?;
        let file = file.display().to_string();
        let text = format!("{}wrote {}\n", rendered.summary, text::printable(&file));
        output::write_stdout(text.as_bytes())
    }
}

/// How findings are rendered: as data, because a server may do it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rendering {
    pub(crate) format: FindingsFormat,
    /// Whether every finding is shown in full.
    is_full: bool,
    /// Whether findings are written to a file, and only the summary to the terminal.
    is_for_file: bool,
    full_names: bool,
    width: Option<usize>,
    is_colored: bool,
    /// The colours; a server knows only the default ones.
    #[serde(skip)]
    colors: Colors,
}

/// Findings in their format.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rendered {
    pub(crate) verdict: Verdict,
    pub(crate) findings: String,
    /// The verdict as text.
    summary: String,
}

impl Rendering {
    /// Renders the findings of one or more comparisons.
    pub(crate) fn render(&self, check: &Check) -> Rendered {
        let comparisons = &check.comparisons[..];
        let terminal = Style {
            width: self.width,
            colors: self.is_colored.then_some(self.colors),
            full_names: self.full_names,
            words: WORDS,
        };
        let style = if self.is_for_file {
            Style {
                width: None,
                colors: None,
                ..terminal
            }
        } else {
            terminal
        };
        let detail = if self.is_full {
            Detail::Full
        } else {
            Detail::Short
        };
        let findings = match self.format {
            FindingsFormat::Text => render::check_text(check, style, detail),
            FindingsFormat::Json => match comparisons {
                [only] => sto_query::results::json(only),
                _ => sto_query::results::json(check),
            }
            .expect("reports have no keys but strings"),
            FindingsFormat::Md => render::markdown(comparisons, WORDS),
            FindingsFormat::Github => render::github(comparisons, WORDS),
            FindingsFormat::Html => render::html(comparisons, WORDS),
            FindingsFormat::Junit => render::junit(comparisons, WORDS),
            FindingsFormat::Sarif => render::sarif(comparisons),
        };
        Rendered {
            verdict: check.verdict,
            findings,
            summary: render::verdict_text(comparisons, terminal),
        }
    }
}
