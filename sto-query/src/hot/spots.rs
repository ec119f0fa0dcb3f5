//! The most expensive lines of source files.

use super::{FileNo, HotCosts, HotIndex, TextCosts};
use crate::answer::{Answer, truncate};
use crate::tree::{Order, Subject};
use serde::Serialize;
use std::cmp::Reverse;

/// The most expensive lines of source files.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotSpots {
    /// The profiles.
    #[serde(flatten)]
    pub subject: Subject,
    /// The order of `spots`.
    pub order: Order,
    /// The lines, most expensive first, equal ones by path and line.
    pub spots: Vec<HotSpot>,
    /// Number of lines that a limit left out.
    pub omitted: usize,
    /// Files whose text at build time is unknown. For these, and for files without line information, functions are
    /// listed in place of lines.
    pub edited: Vec<String>,
    /// Source files of the profiles with several possible locations; nothing is listed for them.
    pub doubtful: Vec<DoubtfulFile>,
}

impl Answer for HotSpots {
    const SCHEMA: &'static str = "sto.hot/1";
}

/// Cost of a line, or of a function that begins there.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotSpot {
    /// Path of the file, relative to the folder that was given.
    pub path: String,
    /// Line number in the current text, from 1.
    pub line: u32,
    /// The function with this cost; `None` if it is the line's.
    pub function: Option<String>,
    /// The cost.
    #[serde(flatten)]
    pub costs: HotCosts,
    /// Text of the line, without surrounding whitespace.
    pub source: String,
}

/// A source file of the profiles with several possible locations.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DoubtfulFile {
    /// Path in the profiles.
    pub file: String,
    /// Possible locations.
    pub candidates: Vec<String>,
}

impl HotIndex {
    /// Returns `true` if a line or function of a file has at least this share in its total cost.
    pub(crate) fn has_share(&self, file: FileNo, min_share: f64) -> bool {
        let file = self.file(file);
        let lines = file.lines().map(|line| line.costs);
        let functions = file.functions().map(|function| function.costs);
        lines
            .chain(functions)
            .any(|costs| costs.total.share >= min_share)
    }

    /// Returns the lines of a file in its current text; if lines are unknown, its functions.
    pub(crate) fn spots<'a>(
        &'a self,
        path: &'a str,
        found: &'a TextCosts,
        text: &'a str,
    ) -> impl Iterator<Item = HotSpot> {
        let texts: Vec<&str> = text.lines().collect();
        let lines = found.lines.iter().map(|line| (line.line, None, line.costs));
        let functions = found.functions.iter().map(|&(line, number)| {
            let function = self.function(number);
            (line, Some(function.name.to_owned()), function.costs)
        });
        let functions = functions.filter(|_| found.lines.is_empty());
        lines
            .chain(functions)
            .map(move |(line, function, costs)| HotSpot {
                path: path.to_owned(),
                line,
                function,
                costs,
                source: texts
                    .get(line as usize - 1)
                    .map_or("", |text| text.trim())
                    .to_owned(),
            })
    }
}

impl HotSpots {
    /// Returns the most expensive of these.
    pub(crate) fn top(
        index: &HotIndex,
        mut spots: Vec<HotSpot>,
        order: Order,
        limit: Option<usize>,
    ) -> HotSpots {
        spots.sort_by(|a, b| (&a.path, a.line, &a.function).cmp(&(&b.path, b.line, &b.function)));
        spots.sort_by_key(|spot| {
            let HotCosts { self_cost, total } = spot.costs;
            let (first, second) = match order {
                Order::SelfCost => (self_cost, total),
                Order::Total => (total, self_cost),
            };
            Reverse((first.value, first.samples, second.value, second.samples))
        });
        let omitted = truncate(&mut spots, limit);
        HotSpots {
            subject: index.subject.clone(),
            order,
            spots,
            omitted,
            edited: Vec::new(),
            doubtful: Vec::new(),
        }
    }
}
