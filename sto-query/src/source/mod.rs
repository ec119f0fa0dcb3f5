//! A function's source, with what each of its lines cost.
//!
//! ```text
//! lines of runs     frame, line, self, total
//!      |  costs     those of one function, added up by source file
//!      v  files     the file itself, in the folders that the user named
//! FunctionSource
//! ```
//!
#![doc = include_str!("source.md")]

mod costs;
mod files;
mod moved;

pub(crate) use costs::{FunctionLines, function_lines};
pub use files::SourceTree;
pub(crate) use files::{Found, SourceFile, find};
pub(crate) use files::{read, read_bytes};
pub(crate) use moved::Moved;

use crate::answer::Answer;
use crate::functions::FunctionError;
use crate::tree::{CostShare, Subject};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// A function's lines with their cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionSource {
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// The function: its symbol as a comparison has it.
    pub function: String,
    /// Whether the lines are also those of its closures.
    pub with_closures: bool,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// What it cost by itself; code that was inlined into it is not its own.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// What it cost with all that it calls, and with what was inlined into it.
    pub total: CostShare,
    /// Its source files, the one that costs most first.
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
    /// Its path as the profiles have it.
    pub file: String,
    /// Where it was found; `None` where it was not.
    pub path: Option<String>,
    /// What lets doubt that it is the source that was built.
    pub warnings: Vec<String>,
    /// The lines with cost, and those around them where the file was found.
    pub lines: Vec<LineSource>,
}

/// One line of a source file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineSource {
    /// Its number, counted from 1.
    pub line: u32,
    /// Samples that ended in the function at this line; `None` where it has no cost.
    #[serde(rename = "self")]
    pub self_cost: Option<CostShare>,
    /// Samples whose stack has the function at this line; `None` where it has no cost.
    pub total: Option<CostShare>,
    /// Its text; `None` where the file was not found, or is shorter.
    pub source: Option<String>,
}

impl FunctionLines {
    /// The lines with cost, and `context` lines around each where there is a text. For each file in turn,
    /// `source` looks for its text, and says what lets doubt that it is the one.
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

/// Why the source of a function cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The name is of several functions, and the lines are of one.
    #[error(transparent)]
    Function(FunctionError),
    /// A folder that was named cannot be read.
    #[error("cannot read the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A source file that was found cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
