//! What a project asks of a release: thresholds, benchmarks, and what is known and not to count.
//!
//! A policy is written in TOML. Reading the file is the caller's, as is the date.
//!
#![doc = include_str!("policy.md")]

mod file;

use crate::compare::{CompareOptions, Ignored, IgnoredFunction, NormalisationMethod, WorseIf};
use crate::functions::Attribution;
use crate::text::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a project asks of a release. The [module](self) has the form of its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Policy {
    /// Selector of the baseline, mostly a tag.
    pub baseline: Option<String>,
    /// What holds for every benchmark.
    pub thresholds: Thresholds,
    /// The benchmarks that are compared, by name, with what holds for each of them instead. Where
    /// there are none, those that both sides have are.
    pub benchmarks: BTreeMap<String, Thresholds>,
    /// Findings that do not count, in the order of the file.
    pub ignore: Vec<IgnoreEntry>,
    /// Whose cost is attributed to whom.
    pub attribution: Attribution,
}

/// Options of a comparison, as far as they are set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Thresholds {
    /// See [`CompareOptions::alpha`].
    pub alpha: Option<f64>,
    /// See [`CompareOptions::min_effect`].
    pub min_effect: Option<f64>,
    /// See [`CompareOptions::min_share`].
    pub min_share: Option<f64>,
    /// See [`CompareOptions::min_samples`].
    pub min_samples: Option<u64>,
    /// See [`CompareOptions::normalisation`].
    pub normalisation: Option<NormalisationMethod>,
    /// What runs were given by which curves are compared, too: see [`CheckRequest`](crate::check::CheckRequest).
    pub x: Option<String>,
    /// See [`CompareOptions::worse_if`]; of metrics that it does not name, others hold.
    pub worse_if: BTreeMap<String, WorseIf>,
}

/// An entry that lets a function's findings not count, until a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IgnoreEntry {
    /// The function, and why it is ignored until when.
    pub ignored: IgnoredFunction,
    /// Line in the file, counted from 1.
    pub line: usize,
}

/// Why a policy cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct PolicyError {
    /// Line in the file, counted from 1.
    pub line: usize,
    /// What is wrong there, and what is expected.
    pub message: String,
}

impl Policy {
    /// Reads the text of a policy file.
    ///
    /// # Errors
    /// Where it is not TOML, or has a key or value that a policy does not.
    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        file::parse(text)
    }

    /// The options of a comparison: what is set holds over what holds for the benchmark, that over
    /// what holds for all, and that over `options`. Entries that have not expired ignore functions.
    pub fn options(
        &self,
        benchmark: Option<&str>,
        set: &Thresholds,
        today: Option<&Date>,
        options: CompareOptions,
    ) -> CompareOptions {
        let of_benchmark = benchmark.and_then(|name| self.benchmarks.get(name));
        let levels = [Some(&self.thresholds), of_benchmark, Some(set)];
        let mut options = levels
            .into_iter()
            .flatten()
            .fold(options, |options, level| level.over(options));
        options.attribution = self.attribution.clone();
        let active = self.ignore.iter().filter(|entry| !entry.is_expired(today));
        options
            .ignored
            .extend(active.map(|entry| entry.ignored.clone()));
        options
    }

    /// By what curves are compared, too, where that is set: the levels are those of [`Policy::options`].
    pub(crate) fn x<'a>(&'a self, benchmark: Option<&str>, set: &'a Thresholds) -> Option<&'a str> {
        let of_benchmark = benchmark.and_then(|name| self.benchmarks.get(name));
        let levels = [Some(set), of_benchmark, Some(&self.thresholds)];
        levels.into_iter().flatten().find_map(|of| of.x.as_deref())
    }

    /// A sentence for each entry that has expired.
    pub fn expired(&self, today: Option<&Date>) -> Vec<String> {
        let expired = self.ignore.iter().filter(|entry| entry.is_expired(today));
        let sentence = |entry: &IgnoreEntry| {
            let IgnoredFunction { function, why, .. } = &entry.ignored;
            let Ignored { reason, expires } = why;
            format!(
                "Line {} of the policy no longer ignores {function}: it expired on {expires} ({reason}).",
                entry.line
            )
        };
        expired.map(sentence).collect()
    }
}

impl IgnoreEntry {
    /// The day of expiry is the last one on which an entry holds.
    fn is_expired(&self, today: Option<&Date>) -> bool {
        today.is_some_and(|today| self.ignored.why.expires < *today)
    }
}

impl Thresholds {
    /// These options, but for what is set here.
    pub(crate) fn over(&self, options: CompareOptions) -> CompareOptions {
        let mut worse_if = options.worse_if;
        worse_if.extend(self.worse_if.clone());
        CompareOptions {
            alpha: self.alpha.unwrap_or(options.alpha),
            min_effect: self.min_effect.unwrap_or(options.min_effect),
            min_share: self.min_share.unwrap_or(options.min_share),
            min_samples: self.min_samples.unwrap_or(options.min_samples),
            normalisation: self.normalisation.clone().unwrap_or(options.normalisation),
            worse_if,
            ..options
        }
    }
}
