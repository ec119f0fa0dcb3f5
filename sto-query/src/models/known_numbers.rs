//! Numbers that can be used as x, for error messages.

use crate::text::{list_names, printable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Name of x for the number of a call, from 1, among the calls of its function in its thread.
pub(super) const ORDER: &str = "order";

/// Maximum number of names in a part of an error message.
const MOST: usize = 5;

/// Numbers that can be used as x, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownNumbers {
    /// Metrics and numeric labels of runs.
    pub runs: BTreeSet<String>,
    /// Numeric labels of samples.
    pub samples: BTreeSet<String>,
    /// Arguments of calls, with the number of functions that have each.
    pub calls: BTreeMap<String, usize>,
    /// Whether all calls of a run were stored, so that `order` can be used.
    pub is_order_known: bool,
}

impl fmt::Display for KnownNumbers {
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
            .map(|(of, names)| format!("{of} have {}", list_names(names, MOST)))
            .collect();
        if parts.is_empty() {
            f.write_str("they have no numbers")
        } else {
            f.write_str(&parts.join("; "))
        }
    }
}

fn names<'n>(names: impl IntoIterator<Item = &'n String>) -> Vec<String> {
    let names = names.into_iter().map(|name| printable(name).into_owned());
    names.collect()
}

/// A function without points.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionWithoutPoints {
    /// The build, as `EXE@BUILD`.
    pub build: String,
    /// Name of x, as given.
    pub x: String,
    /// The function.
    pub function: String,
    /// Other arguments of its calls; `None` if points are not calls.
    pub arguments: Option<BTreeSet<String>>,
    /// Whether self cost was requested.
    pub by_itself: bool,
    /// Functions that have points.
    pub others: Vec<String>,
}

impl fmt::Display for FunctionWithoutPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [build, x, function] =
            [&self.build, &self.x, &self.function].map(|name| printable(name));
        let others = list_names(&names(&self.others), MOST);
        let Some(arguments) = &self.arguments else {
            let by_itself = if self.by_itself { " by itself" } else { "" };
            return write!(
                f,
                "`{function}` cost nothing{by_itself} where {build} has a number `{x}`; these did: {others}"
            );
        };
        let own = if arguments.is_empty() {
            "nor another".to_owned()
        } else {
            format!("but {}", list_names(&names(arguments), MOST))
        };
        write!(
            f,
            "no call of `{function}` in {build} has a number `{x}`, {own}; those of {others} have it"
        )
    }
}
