//! The request to check a release.

use crate::compare::CompareOptions;
use crate::functions::KeyOptions;
use crate::policy::{Policy, Thresholds};
use crate::sources::{Baseline, BuildRef, Context};
use crate::tree::Window;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A request to check a release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CheckRequest {
    /// The baseline; by default the policy's.
    pub baseline: Option<Baseline>,
    /// The candidate.
    pub candidate: BuildRef,
    /// The benchmarks to compare; by default the policy's benchmarks, or otherwise all that both
    /// sides have.
    pub benchmarks: Vec<String>,
    /// The event to compare; by default the one with most samples.
    pub event: Option<String>,
    /// The part of each run's time that is judged; by default all.
    pub window: Option<Window>,
    /// The part of each run's time that is compared with; by default the same as `window`. The runs
    /// may be the same.
    pub against: Option<Window>,
    /// Counts by function and run that a query engine computed over a dataset, with which builds are compared instead
    /// of their stacks: a Parquet file of the question `lake/counts`, or a folder of such files.
    ///
    /// Tests, verdict and metrics are the same as with stacks, as far as counts suffice. Missing are affected callers,
    /// attribution of library code, moved cost other than by names, lines, the variation of an earlier build, parts of
    /// runs, and curves. Each function and run takes about 240 bytes of memory.
    pub counts: Option<PathBuf>,
    /// Thresholds that override the policy.
    pub thresholds: Thresholds,
    /// The policy.
    pub policy: Policy,
    /// The name of the policy in the answer, such as its file name.
    pub policy_name: Option<String>,
    /// How functions of the two builds are matched.
    pub matching: KeyOptions,
    /// See [`CompareOptions::instances`].
    pub instances: bool,
    /// Whether the answer includes every tested function.
    pub all: bool,
    /// Whether the answer includes the stacks of both sides, for drawings.
    pub stacks: bool,
}

impl CheckRequest {
    /// Options of the comparison of a benchmark.
    pub(super) fn options(&self, benchmark: Option<&str>, context: &Context) -> CompareOptions {
        let options = CompareOptions {
            all: self.all,
            stacks: self.stacks,
            matching: self.matching,
            instances: self.instances,
            cancel: context.cancel.clone(),
            ..CompareOptions::default()
        };
        let today = context.today();
        self.policy
            .options(benchmark, &self.thresholds, today.as_ref(), options)
    }
}
