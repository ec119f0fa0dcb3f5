//! What counts as a finding, and why a comparison cannot be made.

use super::keys::KeyOptions;
use super::report::NormalisationMethod;
use serde::Serialize;

/// Thresholds of a comparison; a finding has to pass all of `alpha`, `min_effect` and `min_share`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CompareOptions {
    /// Share of false findings among all findings that is accepted (Benjamini & Hochberg), between
    /// 0 and 1. Default 0.05.
    pub alpha: f64,
    /// Smallest change that is reported, relative to the smaller side. Default 0.1: what a shared
    /// machine does to one function from one day to the next is often several percent, and
    /// significant all the same when there are many samples.
    pub min_effect: f64,
    /// Smallest share of all samples, on the side where the function has more, that is reported.
    /// Default 0.005: a tenfold change below that moves the whole by less than it varies.
    pub min_share: f64,
    /// Samples that each side needs for the verdict `clean`. Default 200: with fewer, a function
    /// that holds a tenth of them has fewer than 20, and even its doubling goes unseen.
    pub min_samples: u64,
    /// How counts of different runs are made comparable. The report says which method was used.
    #[serde(skip)]
    pub normalisation: NormalisationMethod,
    /// Whether the report has every function that was tested.
    #[serde(skip)]
    pub all: bool,
    /// Whether the report has the stacks of both sides, to draw them.
    #[serde(skip)]
    pub stacks: bool,
    /// Which functions of the two builds are one.
    #[serde(skip)]
    pub matching: KeyOptions,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            alpha: 0.05,
            min_effect: 0.10,
            min_share: 0.005,
            min_samples: 200,
            normalisation: NormalisationMethod::Tmm,
            all: false,
            stacks: false,
            matching: KeyOptions::default(),
        }
    }
}

/// Why two views cannot be compared.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A threshold is out of its range.
    #[error("the threshold {name} is {value}; give {expected}")]
    Threshold {
        /// The field of [`CompareOptions`].
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
}

impl CompareOptions {
    pub(super) fn check(&self) -> Result<(), CompareError> {
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
