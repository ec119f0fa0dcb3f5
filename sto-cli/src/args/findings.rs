//! Options for the format and destination of findings.

use crate::runtime::{CliError, WORDS, output, ui};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use sto_query::check::Check;
use sto_query::render::{self, Detail};
use sto_query::text;

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FindingsFormat {
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

    /// Whether to show every function that was tested, changed or not.
    pub(crate) fn shows_all(&self) -> bool {
        self.all || self.format == FindingsFormat::Junit
    }

    fn detail(&self) -> Detail {
        if self.verbose || self.all {
            Detail::Full
        } else {
            Detail::Short
        }
    }

    /// Whether the format draws stacks.
    pub(crate) fn shows_stacks(&self) -> bool {
        self.format == FindingsFormat::Html
    }

    /// Writes the findings of one or more comparisons.
    pub(crate) fn write(&self, check: &Check) -> Result<(), CliError> {
        let comparisons = &check.comparisons[..];
        let file = output::file(self.output.as_deref());
        let style = match file {
            None => ui::style(),
            Some(_) => ui::plain(),
        };
        let rendered = match self.format {
            FindingsFormat::Text => render::check_text(check, style, self.detail()),
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
        let Some(file) = file else {
            return match self.format {
                FindingsFormat::Text => output::show(&rendered),
                _ => output::write_stdout(rendered.as_bytes()),
            };
        };
        output::write_file(file, rendered.as_bytes())?;
        let verdict = render::verdict_text(comparisons, ui::style());
        let file = file.display().to_string();
        let text = format!("{verdict}wrote {}\n", text::printable(&file));
        output::write_stdout(text.as_bytes())
    }
}
