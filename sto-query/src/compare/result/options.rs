//! Options and errors of comparisons.

use super::{Ignored, NormalisationMethod, WorseIf};
use crate::functions::{Attribution, KeyOptions};
use crate::text::printable;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::{CancelToken, Cancelled};

/// Options of a comparison. A finding has to pass all of `alpha`, `min_effect` and `min_share`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareOptions {
    /// Accepted share of false findings among all findings (Benjamini & Hochberg), between 0 and 1.
    /// Default 0.05.
    pub alpha: f64,
    /// Smallest change that is reported, relative to the smaller side. Default 0.1: on shared
    /// machines, single functions often change by several percent from one day to the next, which
    /// is significant with many samples.
    pub min_effect: f64,
    /// Smallest share of all samples, on the side where the function has more, that is reported.
    /// Default 0.005: even a tenfold change below that is smaller than the variation of the whole.
    pub min_share: f64,
    /// Minimum samples of each side for the verdict `clean`. Default 200: with fewer, a function
    /// with a tenth of them has fewer than 20, so even its doubling goes unnoticed.
    pub min_samples: u64,
    /// How counts of different runs are made comparable. By default per run, if the recordings show
    /// that each run did the same work; otherwise, a change must be found both per run and by
    /// [`Tmm`](NormalisationMethod::Tmm). The result says what was used.
    pub normalisation: Option<NormalisationMethod>,
    /// Whether the result includes every tested function.
    pub all: bool,
    /// Whether the result includes the stacks of both sides, for drawings.
    pub stacks: bool,
    /// Whether instances of a generic function or template are only judged one by one. By default,
    /// instances of which none changed significantly are one function if their sum did.
    pub instances: bool,
    /// How functions of the two builds are matched.
    pub matching: KeyOptions,
    /// Rules that attribute the cost of functions to their callers, besides the built-in ones for
    /// standard libraries and runtimes.
    pub attribution: Attribution,
    /// Functions whose findings do not count for the verdict.
    pub ignored: Vec<IgnoredFunction>,
    /// The direction in which a change of a metric is worse, by metric name. For other metrics,
    /// only higher [`SECONDS`](crate::compare::SECONDS) and
    /// [`TOTAL_COST`](crate::compare::TOTAL_COST) count.
    pub worse_if: BTreeMap<String, WorseIf>,
    /// Cancels the comparison.
    #[serde(skip)]
    pub cancel: CancelToken,
}

/// Thresholds of a comparison; a finding has to pass all of `alpha`, `min_effect` and `min_share`.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Thresholds {
    /// Accepted share of false findings among all findings (Benjamini & Hochberg), between 0 and 1.
    alpha: f64,
    /// Smallest change that is reported, relative to the smaller side.
    min_effect: f64,
    /// Smallest share of all samples, on the side where the function has more, that is reported.
    min_share: f64,
    /// Minimum samples of each side for the verdict `clean`.
    min_samples: u64,
}

impl Thresholds {
    pub(crate) fn serialize<S: Serializer>(
        options: &CompareOptions,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let thresholds = Thresholds {
            alpha: options.alpha,
            min_effect: options.min_effect,
            min_share: options.min_share,
            min_samples: options.min_samples,
        };
        Serialize::serialize(&thresholds, serializer)
    }
}

/// A function whose findings do not count for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IgnoredFunction {
    /// The function's symbol, in any form that [`key_symbol`](crate::functions::key_symbol)
    /// accepts.
    pub function: String,
    /// The file that its code was loaded from; `None` for any file.
    pub module: Option<String>,
    /// The reason and the last day.
    pub why: Ignored,
}

impl IgnoredFunction {
    /// Ignores the function with this symbol, in any module.
    pub fn new(function: &str, why: Ignored) -> IgnoredFunction {
        IgnoredFunction {
            function: function.to_owned(),
            module: None,
            why,
        }
    }

    pub(crate) fn may_be_in(&self, module: &str) -> bool {
        self.module.as_deref().is_none_or(|named| named == module)
    }
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            alpha: 0.05,
            min_effect: 0.10,
            min_share: 0.005,
            min_samples: 200,
            normalisation: None,
            all: false,
            stacks: false,
            instances: false,
            matching: KeyOptions::default(),
            attribution: Attribution::default(),
            ignored: Vec::new(),
            worse_if: BTreeMap::new(),
            cancel: CancelToken::default(),
        }
    }
}

/// The reason why two views cannot be compared.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The comparison was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A threshold is out of its range.
    #[error("the threshold {name} is {value}; give {expected}")]
    Threshold {
        /// The field of [`CompareOptions`].
        name: &'static str,
        /// Its value.
        value: f64,
        /// Description of the valid values.
        expected: &'static str,
    },
    /// The metric that normalises costs is missing in some profiles, or not a positive number.
    #[error(
        "the metric `{}` must be a number above 0 in every profile, but it is {}{}",
        printable(.metric),
        .profiles.join(", "),
        match .more { 0 => String::new(), more => format!(" and so in {more} more") },
    )]
    Metric {
        /// The metric.
        metric: String,
        /// The first such profile.
        first: ProfileId,
        /// Values in that profile and the next ones: `missing in 124e9f760a12 of demo@v1`.
        profiles: Vec<String>,
        /// Number of further such profiles.
        more: usize,
    },
}

impl CompareOptions {
    pub(crate) fn check(&self) -> Result<(), CompareError> {
        let in_range = [
            (
                "alpha",
                self.alpha,
                self.alpha > 0.0 && self.alpha < 1.0,
                "a number between 0 and 1",
            ),
            (
                "min_effect",
                self.min_effect,
                self.min_effect > 0.0 && self.min_effect.is_finite(),
                "a number above 0, such as 0.1 for 10 %",
            ),
            (
                "min_share",
                self.min_share,
                (0.0..1.0).contains(&self.min_share),
                "a number from 0 to below 1",
            ),
        ];
        for (name, value, ok, expected) in in_range {
            if !ok {
                return Err(CompareError::Threshold {
                    name,
                    value,
                    expected,
                });
            }
        }
        Ok(())
    }
}
