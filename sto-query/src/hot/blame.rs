//! A source file with the cost of each line.

use super::{HotChanges, HotCosts, HotIndex, InText};
use crate::answer::{Answer, Verdict};
use crate::tree::{CostShare, Subject};
use serde::Serialize;
use std::collections::BTreeMap;

/// A source file with the cost of each line and function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Blame {
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// The file, as it was named.
    pub path: String,
    /// The source files of the profiles that it is; none where nothing is known of it.
    pub files: Vec<String>,
    /// Whether it is known what its text was when the build was made; else lines have no cost, and functions are found by
    /// their names.
    pub text_known: bool,
    /// What it is compared with.
    pub since: Option<BlamedSince>,
    /// The functions in it, in the order of the lines where they begin.
    pub functions: Vec<BlamedFunction>,
    /// All of its lines.
    pub lines: Vec<BlamedLine>,
}

impl Answer for Blame {
    const SCHEMA: &'static str = "sto.blame/1";
}

/// What a file's costs are compared with.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedSince {
    /// The build.
    pub subject: Subject,
    /// Whether it is known what the file's text was when that was made; else lines have no cost then.
    pub text_known: bool,
    /// What the comparison came to; `insufficient` where there was too little data to find a change.
    pub verdict: Verdict,
}

/// A function of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedFunction {
    /// The line where it begins, from 1.
    pub line: u32,
    /// Its symbol as a comparison has it.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// What it cost.
    #[serde(flatten)]
    pub costs: HotCosts,
    /// What it cost then; `None` where nothing is compared, or it was not there. Not tested.
    pub was: Option<HotCosts>,
    /// Its total now / then, where a comparison found that it changed by more than chance; normalised as that is.
    pub change: Option<f64>,
}

/// A line of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedLine {
    /// Its number, from 1.
    pub line: u32,
    /// Samples that ended at it; `None` where it has no cost.
    #[serde(rename = "self")]
    pub self_cost: Option<CostShare>,
    /// Samples whose stack has it; `None` where it has no cost.
    pub total: Option<CostShare>,
    /// What it cost then; `None` where nothing is compared, or it had no cost. Not tested.
    pub was: Option<HotCosts>,
    /// Its text.
    pub source: String,
}

/// A build that a file is compared with.
pub(crate) struct Before {
    pub(crate) index: HotIndex,
    pub(crate) found: InText,
    pub(crate) text_known: bool,
    pub(crate) changes: HotChanges,
    pub(crate) verdict: Verdict,
}

impl HotIndex {
    /// A file with what was found in its text, and what was before.
    pub(crate) fn blame(
        &self,
        path: String,
        text: &str,
        found: &InText,
        then: Option<&Before>,
    ) -> Blame {
        let numbers_then = then.map(|then| then.index.numbers());
        let functions = found.functions.iter().map(|&(line, number)| {
            let function = self.function(number);
            let was = then.zip(numbers_then.as_ref()).and_then(|(then, numbers)| {
                // The program may be called otherwise then.
                let module = match function.module == self.subject.executable {
                    true => &then.index.subject.executable,
                    false => function.module,
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
                change: then.and_then(|then| then.changes.of_function(number)),
            }
        });
        let costs_of = |found: &InText| -> BTreeMap<u32, HotCosts> {
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
