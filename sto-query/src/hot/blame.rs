//! Annotation of a source file with costs.

use super::{HotChanges, HotCosts, HotIndex, TextCosts};
use crate::answer::{Answer, Verdict};
use crate::tree::{CostShare, Subject};
use serde::Serialize;
use std::collections::BTreeMap;

/// A source file with the cost of each line and function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Blame {
    /// The profiles.
    #[serde(flatten)]
    pub subject: Subject,
    /// Path of the file, as given.
    pub path: String,
    /// Matching source files in the profiles.
    pub files: Vec<String>,
    /// Whether the text at build time is known. If not, lines have no cost, and functions are found by name.
    pub text_known: bool,
    /// The build that costs are compared with.
    pub since: Option<BlamedSince>,
    /// The functions in the file, sorted by line.
    pub functions: Vec<BlamedFunction>,
    /// All lines of the file.
    pub lines: Vec<BlamedLine>,
}

impl Answer for Blame {
    const SCHEMA: &'static str = "sto.blame/1";
}

/// The build that a file's costs are compared with.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedSince {
    /// The build.
    pub subject: Subject,
    /// Whether the text at the time of that build is known; if not, lines have no cost in it.
    pub text_known: bool,
    /// Verdict of the comparison; `insufficient` if there was too little data to find a change.
    pub verdict: Verdict,
}

/// A function of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedFunction {
    /// First line, from 1.
    pub line: u32,
    /// Normalised symbol, as in a comparison.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// Current cost.
    #[serde(flatten)]
    pub costs: HotCosts,
    /// Earlier cost; `None` without a comparison, or if the function did not exist. Not tested for significance.
    pub was: Option<HotCosts>,
    /// Ratio of current to earlier total cost, normalised as in the comparison; `None` unless the change is
    /// significant.
    pub change: Option<f64>,
}

/// A line of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedLine {
    /// Line number, from 1.
    pub line: u32,
    /// Self cost; `None` if the line has no cost.
    #[serde(rename = "self")]
    pub self_cost: Option<CostShare>,
    /// Total cost; `None` if the line has no cost.
    pub total: Option<CostShare>,
    /// Earlier cost; `None` without a comparison, or if the line had no cost. Not tested for significance.
    pub was: Option<HotCosts>,
    /// Text of the line.
    pub source: String,
}

/// An earlier build that a file is compared with.
pub(crate) struct EarlierBuild {
    pub(crate) index: HotIndex,
    pub(crate) found: TextCosts,
    pub(crate) text_known: bool,
    pub(crate) changes: HotChanges,
    pub(crate) verdict: Verdict,
}

impl HotIndex {
    /// Annotates a file, given the costs in its text and the costs of an earlier build.
    pub(crate) fn blame(
        &self,
        path: String,
        text: &str,
        found: &TextCosts,
        then: Option<&EarlierBuild>,
    ) -> Blame {
        let numbers_then = then.map(|then| then.index.numbers());
        let functions = found.functions.iter().map(|&(line, number)| {
            let function = self.function(number);
            let was = then.zip(numbers_then.as_ref()).and_then(|(then, numbers)| {
                // The program may have had another name.
                let module = if function.module == self.subject.executable {
                    &then.index.subject.executable
                } else {
                    function.module
                };
                let number = numbers.get(&(function.name, module))?;
                Some(then.index.function(*number).costs)
            });
            BlamedFunction {
                line,
                function: function.name.to_owned(),
                module: function.module.to_owned(),
                costs: function.costs,
                was: was.filter(|costs| costs.total.samples > 0),
                change: then.and_then(|then| then.changes.change(number)),
            }
        });
        let costs_of = |found: &TextCosts| -> BTreeMap<u32, HotCosts> {
            let lines = found.lines.iter();
            lines.map(|line| (line.line, line.costs)).collect()
        };
        let costs = costs_of(found);
        let was = then.map_or_else(BTreeMap::new, |then| costs_of(&then.found));
        let lines = (1..).zip(text.lines()).map(|(line, source)| BlamedLine {
            line,
            self_cost: costs.get(&line).map(|costs| costs.self_cost),
            total: costs.get(&line).map(|costs| costs.total),
            was: was.get(&line).copied(),
            source: source.to_owned(),
        });
        Blame {
            subject: self.subject.clone(),
            path,
            files: Vec::new(),
            text_known: true,
            functions: functions.collect(),
            lines: lines.collect(),
            since: then.map(|then| BlamedSince {
                subject: then.index.subject.clone(),
                text_known: then.text_known,
                verdict: then.verdict,
            }),
        }
    }
}
