//! Names of the sides of a check, in the commands that show more, and the outcome of a verdict.

use crate::runtime::{Outcome, next_steps};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use sto_query::check::{Check, CheckRequest};
use sto_query::results::{Comparison, Side, Verdict};

/// The names of the sides as the user typed them; by default the names of the builds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Names {
    baseline: Option<String>,
    candidate: Option<String>,
    /// Whether one name selects both sides.
    pub(crate) has_one: bool,
    /// The options that are needed to repeat the check.
    pub(crate) options: Vec<String>,
}

impl Names {
    pub(crate) fn new(
        (baseline, candidate): (Option<&OsString>, Option<&OsString>),
        request: &CheckRequest,
    ) -> Names {
        let text = |name: &OsString| name.to_string_lossy().into_owned();
        let event = request.event.iter();
        let event = event.flat_map(|event| ["--event".to_owned(), event.clone()]);
        Names {
            baseline: baseline.map(text),
            candidate: candidate.map(text),
            has_one: false,
            options: event.collect(),
        }
    }

    /// Adds the commands that show more to all comparisons, with the sides as the user named them.
    pub(crate) fn add_commands(&self, check: &mut Check) {
        for comparison in &mut check.comparisons {
            self.add_commands_of(comparison);
        }
    }

    fn add_commands_of(&self, comparison: &mut Comparison) {
        // Name the build and not a tag, which may be moved later.
        let name = |named: &Option<String>, side: &Side| match named {
            Some(named) => named.clone(),
            None => format!("{}@{}", side.executable, side.build),
        };
        let baseline = name(&self.baseline, &comparison.baseline);
        let candidate = name(&self.candidate, &comparison.candidate);
        let both = [&*baseline, &*candidate];
        let sides = if self.has_one { &both[1..] } else { &both[..] };
        next_steps::add_comparison_commands(comparison, sides, &self.options);
    }
}

/// Returns the outcome of a command that judges a build.
pub(crate) fn outcome_of(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Clean => Outcome::Clean,
        Verdict::Regression => Outcome::Regressions,
        Verdict::Insufficient => Outcome::TooLittleData,
    }
}
