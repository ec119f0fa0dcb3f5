//! Source code of a function with the cost of each line.
//!
//! ```text
//! lines of runs     frame, line, self, total
//!      |  costs     lines of one function, summed by source file
//!      v  files     the file itself, in folders given by the user
//! FunctionSource
//! ```
//!
//! See [the manual](crate::manual::source).

mod costs;
mod files;
mod line_map;

pub(crate) use costs::{FunctionLines, function_lines};
pub use files::SourceTree;
pub(crate) use files::{Lookup, SourceFile, find};
pub(crate) use files::{read, read_bytes};
pub(crate) use line_map::LineMap;

use crate::answer::Answer;
use crate::functions::FunctionError;
use crate::tree::{CostShare, Subject};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// Lines of a function with their cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionSource {
    /// The profiles.
    #[serde(flatten)]
    pub subject: Subject,
    /// Normalised symbol of the function, as in a comparison.
    pub function: String,
    /// Whether the lines include the function's closures.
    pub with_closures: bool,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// Self cost, excluding code inlined into it.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Total cost, including code inlined into it.
    pub total: CostShare,
    /// Source files, most expensive first.
    pub files: Vec<FileSource>,
}

impl Answer for FunctionSource {
    const SCHEMA: &'static str = "sto.source/1";
}

/// One source file of a function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileSource {
    /// Path in the profiles.
    pub file: String,
    /// Path of the file that was found; `None` if none was found.
    pub path: Option<String>,
    /// Reasons to doubt that it is the source of this build.
    pub warnings: Vec<String>,
    /// Lines with a cost, and surrounding lines if the file was found.
    pub lines: Vec<LineSource>,
}

/// One line of a source file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineSource {
    /// Line number, from 1.
    pub line: u32,
    /// Self cost of the function at this line; `None` if the line has no cost.
    #[serde(rename = "self")]
    pub self_cost: Option<CostShare>,
    /// Total cost of the function at this line; `None` if the line has no cost.
    pub total: Option<CostShare>,
    /// Text of the line; `None` if the file was not found or is shorter.
    pub source: Option<String>,
}

impl FunctionLines {
    /// Adds the text of lines with a cost, and `context` lines around each. For each file, `source` returns its text
    /// and reasons to doubt it.
    pub(crate) fn with_source(
        self,
        subject: Subject,
        context: u32,
        mut source: impl FnMut(&str) -> Result<(Option<SourceFile>, Vec<String>), SourceError>,
    ) -> Result<FunctionSource, SourceError> {
        let whole = sto_core::units::Cost {
            samples: subject.samples,
            value: subject.value,
        };
        let cost = |cost| CostShare::new(cost, whole);
        let files = self.files.into_iter().map(|(file, costs)| {
            let (found, mut warnings) = source(&file)?;
            let texts: Option<Vec<&str>> = found.as_ref().map(|found| found.text.lines().collect());
            if let Some((texts, (&last, _))) = texts.as_ref().zip(costs.last_key_value())
                && last as usize > texts.len()
            {
                warnings.push(format!(
                    "the file has {} lines, but line {last} has cost: it is not the source of this build",
                    texts.len()
                ));
            }
            let context = if texts.is_some() { context } else { 0 };
            let mut lines: Vec<LineSource> = Vec::new();
            for &line in costs.keys() {
                let known = texts.as_ref().map_or(line, |texts| texts.len() as u32);
                let first = line.saturating_sub(context).max(1);
                let last = line.saturating_add(context).min(known).max(line);
                let begin = lines.last().map_or(first, |shown| first.max(shown.line + 1));
                for line in begin..=last {
                    let costs = costs.get(&line);
                    if line > known && costs.is_none() {
                        continue;
                    }
                    let text = texts.as_ref().and_then(|texts| texts.get(line as usize - 1));
                    lines.push(LineSource {
                        line,
                        self_cost: costs.map(|costs| cost(costs.own)),
                        total: costs.map(|costs| cost(costs.total)),
                        source: text.map(|&text| text.to_owned()),
                    });
                }
            }
            Ok(FileSource {
                file,
                path: found.map(|found| found.path.display().to_string()),
                warnings,
                lines,
            })
        });
        Ok(FunctionSource {
            subject,
            function: self.function,
            with_closures: self.with_closures,
            module: self.module,
            self_cost: cost(self.own),
            total: cost(self.total),
            files: files.collect::<Result<_, _>>()?,
        })
    }
}

/// Error of showing the source of a function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The name denotes several functions.
    #[error(transparent)]
    Function(FunctionError),
    /// A given folder cannot be read.
    #[error("cannot read the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A source file that was found cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}
