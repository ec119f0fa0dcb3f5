//! Several benchmarks of two builds, and one verdict over all of them.

use crate::answer::{Answer, Named};
use crate::compare::{Comparison, Verdict};
use crate::select::Selection;
use hashbrown::HashSet;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// Comparisons that are judged together.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Check {
    /// The worst of the comparisons' verdicts: a regression, else too little data, else clean.
    pub verdict: Verdict,
    /// The verdict as a sentence.
    pub reason: String,
    /// The comparisons, one a benchmark. Not empty.
    #[serde(serialize_with = "named")]
    pub comparisons: Vec<Comparison>,
}

impl Answer for Check {
    const SCHEMA: &'static str = "sto.check/1";
}

fn named<S: Serializer>(comparisons: &[Comparison], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(comparisons.iter().map(Named::from))
}

impl Check {
    /// Judges comparisons together. Without any there is too little data.
    pub fn of(comparisons: Vec<Comparison>) -> Check {
        Check {
            verdict: Verdict::over(&comparisons),
            reason: reason(&comparisons),
            comparisons,
        }
    }
}

/// The verdict over comparisons as a sentence.
pub(crate) fn reason(comparisons: &[Comparison]) -> String {
    if let [only] = comparisons {
        return only.reason.clone();
    }
    let verdict = Verdict::over(comparisons);
    let of_verdict = comparisons.iter().filter(|c| c.verdict == verdict);
    let names: Vec<&str> = of_verdict.map(Comparison::benchmark_name).collect();
    let (count, all) = (names.len(), comparisons.len());
    match verdict {
        Verdict::Clean => format!("all {all} benchmarks are clean"),
        Verdict::Regression => format!(
            "{count} of {all} benchmarks got slower: {}",
            names.join(", ")
        ),
        Verdict::Insufficient => format!(
            "{count} of {all} benchmarks have too little data, and none got slower: {}",
            names.join(", ")
        ),
    }
}

/// Which runs of two builds are compared with which.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Benchmarks {
    /// The benchmarks, one comparison each. `None` are runs that name none. Empty where all runs
    /// are compared, whatever ran.
    pub compared: Vec<Option<String>>,
    /// Sentences about runs that a side has not, and about others that it has.
    pub warnings: Vec<String>,
}

impl Benchmarks {
    /// Those that are named; else those that both sides have, if there are several on a side; or all,
    /// of each of which a side then has no runs, where they have none in common. What differs from one
    /// benchmark to the next is not what changed between the builds.
    pub fn of(baseline: &Selection, candidate: &Selection, named: &[String]) -> Benchmarks {
        let (old, new) = (baseline.benchmarks(), candidate.benchmarks());
        if !named.is_empty() {
            let mut compared: Vec<_> = named.iter().cloned().map(Some).collect();
            let mut known = HashSet::new();
            compared.retain(|name| known.insert(name.clone()));
            let missing = [("baseline", &old), ("candidate", &new)];
            let missing = missing.into_iter().flat_map(|(side, has)| {
                let named = compared.iter().flatten();
                let missing = named.filter(|name| !has.contains(&Some(name.as_str())));
                missing.map(move |name| {
                    let has = listed(has.iter().copied());
                    format!(
                        "The {side} has no runs of {name}; it has runs of these benchmarks: {has}."
                    )
                })
            });
            return Benchmarks {
                warnings: missing.collect(),
                compared,
            };
        }
        let shared: BTreeSet<_> = old.intersection(&new).copied().collect();
        let all: BTreeSet<_> = old.union(&new).copied().collect();
        // Runs of one benchmark, or one of each side that the user may know by two names.
        if old.len() < 2 && new.len() < 2 {
            return Benchmarks {
                compared: Vec::new(),
                warnings: Vec::new(),
            };
        }
        if shared.is_empty() {
            return Benchmarks {
                compared: all.iter().map(|name| name.map(str::to_owned)).collect(),
                warnings: vec![format!(
                    "The sides have no benchmark in common, so nothing can be compared: the baseline has runs \
                     of {}, the candidate of {}.",
                    listed(old.iter().copied()),
                    listed(new.iter().copied())
                )],
            };
        }
        let warning = |(side, benchmarks): (&str, BTreeSet<Option<&str>>)| {
            let others = listed(benchmarks.difference(&shared).copied());
            (!others.is_empty()).then(|| {
                format!(
                    "Only the {side} has runs of these benchmarks, which are left out: {others}."
                )
            })
        };
        Benchmarks {
            compared: shared.iter().map(|name| name.map(str::to_owned)).collect(),
            warnings: [("baseline", old), ("candidate", new)]
                .into_iter()
                .filter_map(warning)
                .collect(),
        }
    }
}

fn listed<'a>(benchmarks: impl Iterator<Item = Option<&'a str>>) -> String {
    let names: Vec<&str> = benchmarks.map(|name| name.unwrap_or("(none)")).collect();
    names.join(", ")
}
