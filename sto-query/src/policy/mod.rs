//! A project's requirements on a release: thresholds, benchmarks, and functions to ignore.
//!
//! A policy is written in TOML. The caller reads the file and knows the date.
//!
//! See [the manual](crate::manual::policy).

mod file;

use crate::compare::{CompareOptions, Ignored, IgnoredFunction, NormalisationMethod, WorseIf};
use crate::functions::Attribution;
use crate::text::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A project's requirements on a release. The [module](self) describes the file format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Policy {
    /// Selector of the baseline, usually a tag.
    pub baseline: Option<String>,
    /// Thresholds for all benchmarks.
    pub thresholds: Thresholds,
    /// The benchmarks to compare, by name, with thresholds that override the general ones. If
    /// empty, the benchmarks of both sides are compared.
    pub benchmarks: BTreeMap<String, Thresholds>,
    /// Findings that do not count, in the order of the file.
    pub ignore: Vec<IgnoreEntry>,
    /// Rules that attribute the cost of functions to their callers.
    pub attribution: Attribution,
}

/// Options of a comparison that are set explicitly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
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
    /// Name of the metric with the input size by which curves are compared; see
    /// [`CheckRequest`](crate::check::CheckRequest).
    pub x: Option<String>,
    /// See [`CompareOptions::worse_if`]. Metrics that are missing here keep their setting of the
    /// next level.
    pub worse_if: BTreeMap<String, WorseIf>,
}

/// An entry by which findings of a function do not count, until a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IgnoreEntry {
    /// The function, the reason, and the last day.
    pub ignored: IgnoredFunction,
    /// Line in the file, counted from 1.
    pub line: usize,
}

/// The reason why a policy cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct PolicyError {
    /// Line in the file, counted from 1.
    pub line: usize,
    /// The problem, and the expected value.
    pub message: String,
}

impl Policy {
    /// Parses the text of a policy file.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML, or has an unknown key or an invalid value.
    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        file::parse(text)
    }

    /// Returns the options of a comparison. `set` overrides the benchmark's thresholds, which
    /// override the general ones, which override `options`. Functions of entries that have not
    /// expired are ignored.
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
            .fold(options, |options, level| level.override_options(options));
        options.attribution = self.attribution.clone();
        let active = self.ignore.iter().filter(|entry| !entry.is_expired(today));
        options
            .ignored
            .extend(active.map(|entry| entry.ignored.clone()));
        options
    }

    /// Returns the metric by which curves are compared, if it is set, with the precedence of
    /// [`Policy::options`].
    pub(crate) fn curve_metric<'a>(
        &'a self,
        benchmark: Option<&str>,
        set: &'a Thresholds,
    ) -> Option<&'a str> {
        let of_benchmark = benchmark.and_then(|name| self.benchmarks.get(name));
        let levels = [Some(set), of_benchmark, Some(&self.thresholds)];
        levels.into_iter().flatten().find_map(|of| of.x.as_deref())
    }

    /// Returns a warning for each entry that has expired.
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
    /// Whether the entry has expired. The day of expiry is the last one on which it applies.
    fn is_expired(&self, today: Option<&Date>) -> bool {
        today.is_some_and(|today| self.ignored.why.expires < *today)
    }
}

impl Thresholds {
    /// Returns the options with the thresholds that are set replaced.
    pub(crate) fn override_options(&self, options: CompareOptions) -> CompareOptions {
        let mut worse_if = options.worse_if;
        worse_if.extend(self.worse_if.clone());
        CompareOptions {
            alpha: self.alpha.unwrap_or(options.alpha),
            min_effect: self.min_effect.unwrap_or(options.min_effect),
            min_share: self.min_share.unwrap_or(options.min_share),
            min_samples: self.min_samples.unwrap_or(options.min_samples),
            normalisation: self.normalisation.clone().or(options.normalisation),
            worse_if,
            ..options
        }
    }
}
