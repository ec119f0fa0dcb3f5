//! Which numbers there are to model cost by, to be said where the one that was asked for is none of them.

use crate::text::{printable, some_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The name of x where it is the number of a call, from 1, among those of its function in its thread.
pub(super) const ORDER: &str = "order";

/// Most names that a part of an error has.
const MOST: usize = 5;

/// The numbers that cost may be modelled by, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Numbers {
    /// Metrics of runs, and labels of them that are numbers.
    pub runs: BTreeSet<String>,
    /// What samples are labelled with.
    pub samples: BTreeSet<String>,
    /// Arguments of calls, each with how many functions have it.
    pub calls: BTreeMap<String, usize>,
    /// Whether all calls of a run were kept, so that the order of calls is a number, too.
    pub is_order_known: bool,
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls.iter().map(|(name, functions)| match functions {
            1 => printable(name).into_owned(),
            many => format!("{} (of {many} functions)", printable(name)),
        });
        let order = self.is_order_known.then(|| ORDER.to_owned());
        let parts = [
            ("runs", names(&self.runs)),
            ("samples", names(&self.samples)),
            ("calls", calls.chain(order).collect()),
        ];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> = parts
            .map(|(of, names)| format!("{of} have {}", some_of(names, MOST)))
            .collect();
        match parts.is_empty() {
            true => f.write_str("they have none at all"),
            false => f.write_str(&parts.join("; ")),
        }
    }
}

fn names<'n>(names: impl IntoIterator<Item = &'n String>) -> Vec<String> {
    let names = names.into_iter().map(|name| printable(name).into_owned());
    names.collect()
}

/// A function that has no point.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pointless {
    /// The build, as `EXE@BUILD`.
    pub build: String,
    /// What was asked for.
    pub x: String,
    /// The function.
    pub function: String,
    /// What else its calls have; `None` where points are no calls.
    pub arguments: Option<BTreeSet<String>>,
    /// Whether it is asked for what it cost by itself.
    pub by_itself: bool,
    /// Functions that have points.
    pub others: Vec<String>,
}

impl fmt::Display for Pointless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [build, x, function] =
            [&self.build, &self.x, &self.function].map(|name| printable(name));
        let others = some_of(&names(&self.others), MOST);
        let Some(arguments) = &self.arguments else {
            let by_itself = if self.by_itself { " by itself" } else { "" };
            return write!(
                f,
                "`{function}` cost nothing{by_itself} where {build} has a number `{x}`; what did is {others}"
            );
        };
        let own = match arguments.is_empty() {
            true => "nor another".to_owned(),
            false => format!("but {}", some_of(&names(arguments), MOST)),
        };
        write!(
            f,
            "no call of `{function}` in {build} has a number `{x}`, {own}; those of {others} have it"
        )
    }
}
