//! The lines of source files that cost most.

use super::{FileNo, HotCosts, HotIndex, InText};
use crate::answer::{Answer, limited};
use crate::tree::{Order, Subject};
use serde::Serialize;
use std::cmp::Reverse;

/// The lines of source files that cost most.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotSpots {
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// The order of `spots`.
    pub order: Order,
    /// The most expensive first, equals by path and line.
    pub spots: Vec<HotSpot>,
    /// Number of those that a limit left out.
    pub omitted: usize,
    /// Files of which it is not known what their text was when the build was made: of them, and of files whose lines are not
    /// known, there are functions in place of lines.
    pub edited: Vec<String>,
    /// Source files of the profiles of which it is not known which file they are: nothing is listed of them.
    pub doubtful: Vec<DoubtfulFile>,
}

impl Answer for HotSpots {
    const SCHEMA: &'static str = "sto.hot/1";
}

/// What a line of a file costs, or a function that begins there.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotSpot {
    /// The file, as whoever named it or its folder would open it.
    pub path: String,
    /// Number of the line in the file as it is, from 1.
    pub line: u32,
    /// The function whose cost it is; `None` where it is the line's.
    pub function: Option<String>,
    /// What it cost.
    #[serde(flatten)]
    pub costs: HotCosts,
    /// The text of the line, without the space around it.
    pub source: String,
}

/// A source file of the profiles that may be any of several.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DoubtfulFile {
    /// Its path as the profiles have it.
    pub file: String,
    /// What it may be.
    pub candidates: Vec<String>,
}

impl HotIndex {
    /// Whether a line or a function of a file has at least this share in its total.
    pub(crate) fn has_share(&self, file: FileNo, min_share: f64) -> bool {
        let file = self.file(file);
        let lines = file.lines().map(|line| line.costs);
        let functions = file.functions().map(|function| function.costs);
        lines
            .chain(functions)
            .any(|costs| costs.total.share >= min_share)
    }

    /// The lines of a file in its text as it is; of a file whose lines are not known, its functions.
    pub(crate) fn spots<'a>(
        &'a self,
        path: &'a str,
        found: &'a InText,
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
    /// The most expensive ones of these.
    pub(crate) fn of(
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
        let omitted = limited(&mut spots, limit);
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
