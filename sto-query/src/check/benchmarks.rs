//! Comparisons of several benchmarks of two builds, with one verdict.

use crate::answer::{Answer, Named};
use crate::compare::{Comparison, Verdict};
use crate::select::{Selection, matches_name};
use hashbrown::HashSet;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// Comparisons with a common verdict.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Check {
    /// The worst of the comparisons' verdicts: a regression, otherwise insufficient data, otherwise
    /// clean.
    pub verdict: Verdict,
    /// The verdict as a sentence.
    pub reason: String,
    /// The comparisons, one per benchmark. Not empty.
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
    /// Combines comparisons. Without any, the verdict is that the data are insufficient.
    pub fn new(comparisons: Vec<Comparison>) -> Check {
        Check {
            verdict: Verdict::combine(&comparisons),
            reason: reason(&comparisons),
            comparisons,
        }
    }
}

/// Returns the verdict over comparisons as a sentence.
pub(crate) fn reason(comparisons: &[Comparison]) -> String {
    if let [only] = comparisons {
        return only.reason.clone();
    }
    let verdict = Verdict::combine(comparisons);
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

/// The benchmarks to compare, and warnings about left-out runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Benchmarks {
    /// The benchmarks, one comparison each. `None` stands for runs without a benchmark. Empty if
    /// all runs are compared, whatever their benchmarks.
    pub compared: Vec<Option<String>>,
    /// Warnings about benchmarks that only one side has.
    pub warnings: Vec<String>,
}

impl Benchmarks {
    /// Chooses the benchmarks to compare.
    ///
    /// These are the named benchmarks, where `*` stands for any text in the names of those that a
    /// side has, or otherwise those that both sides have, if a side has several. If the sides have none in common, every benchmark is compared with a side without
    /// runs. Benchmarks are compared separately, because a difference between benchmarks is not a
    /// difference between builds.
    pub fn new(baseline: &Selection, candidate: &Selection, named: &[String]) -> Benchmarks {
        let (old, new) = (baseline.benchmarks(), candidate.benchmarks());
        if !named.is_empty() {
            let all = || old.union(&new).flatten();
            let with_name = |name: &String| {
                let known = all().filter(|known| matches_name(name, known));
                let mut found: Vec<_> = known.map(|&known| Some(known.to_owned())).collect();
                if found.is_empty() {
                    found.push(Some(name.clone()));
                }
                found
            };
            let mut compared: Vec<_> = named.iter().flat_map(with_name).collect();
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
        // Each side has one benchmark, which may have been renamed.
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
