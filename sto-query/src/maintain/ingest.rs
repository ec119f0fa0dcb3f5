//! What went into a store.

use crate::answer::Answer;
use crate::listing::{ProfileSummary, profile_report};
use serde::Serialize;
use sto_core::Notice;
use sto_core::ingest::{
    IngestOutcome, Ingested, IngestedCalls, IngestedMetrics, IngestedSlices, ModuleSymbols,
};
use sto_core::model::Build;
use sto_core::store::Added;
use sto_core::units::{Bytes, Cost};

/// What went into a store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestSummary {
    /// The files that were read, in the order in which they were.
    pub recordings: Vec<IngestedFile>,
    /// Whether it is a dataset of Parquet files that they went into.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_dataset: bool,
}

impl Answer for IngestSummary {
    const SCHEMA: &'static str = "sto.ingest/1";
}

/// What became of one file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IngestedFile {
    /// The file.
    pub path: String,
    /// The profiles in it, most samples first.
    pub profiles: Vec<IngestedProfile>,
    /// The files that its code was loaded from: most unresolved samples first, equals by path.
    pub modules: Vec<FoundSymbols>,
    /// Whole sentences about what a user should know of the recording.
    pub warnings: Vec<String>,
}

/// A profile that was read.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IngestedProfile {
    /// The build.
    #[serde(flatten)]
    pub build: Build,
    /// Whether it is new: the same file is stored once for a build.
    pub added: bool,
    /// Number of stacks, callers of others among them.
    pub nodes: usize,
    /// Number of distinct frames.
    pub frames: usize,
    /// How its time was cut, where slices were kept now.
    pub slices: Option<IngestedSlices>,
    /// Its metrics over time, where any were stored now.
    pub metrics_over_time: Option<IngestedMetrics>,
    /// Its calls over time, where any were stored now.
    pub calls_over_time: Option<IngestedCalls>,
    /// The profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
    /// What the samples of each of its events cost together.
    pub event_totals: Vec<Cost>,
    /// Packed size of what was written for it now: none where it is not new. What others had
    /// brought already is not in it, what stands in one pack with the new is.
    pub stored_bytes: u64,
    /// How many times smaller that is than the recording; `None` where nothing was written.
    pub saving: Option<f64>,
}

/// What was found of a module.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundSymbols {
    /// Its path, as recorded.
    pub path: String,
    /// The file that its symbols came from.
    pub symbols: Option<String>,
    /// Number of distinct locations that were sampled.
    pub locations: usize,
    /// How many of them have no symbol.
    pub unresolved: usize,
    /// Samples with one of these on their stack.
    pub unresolved_samples: u64,
    /// Why, and what to do about it.
    pub problem: Option<String>,
    /// Whether a file may turn up that says more.
    #[serde(skip)]
    pub may_be_found: bool,
}

impl IngestedFile {
    /// Reports what became of a file. `say` adds to a notice what can be done about it.
    pub fn new(path: String, report: &IngestOutcome, say: impl Fn(&Notice) -> String) -> Self {
        let modules = report.modules.iter();
        let mut modules: Vec<_> = modules.map(|module| found_symbols(module, &say)).collect();
        modules.sort_by(|a, b| {
            let order = b.unresolved_samples.cmp(&a.unresolved_samples);
            order.then_with(|| a.path.cmp(&b.path))
        });
        IngestedFile {
            path,
            profiles: report.profiles.iter().map(ingested_profile).collect(),
            modules,
            warnings: report.warnings.iter().map(&say).collect(),
        }
    }
}

fn ingested_profile(ingested: &Ingested) -> IngestedProfile {
    let (added, stored) = match ingested.added {
        Added::New { stored, .. } => (true, stored),
        Added::Given {
            metrics,
            calls,
            kept,
            ..
        } => (false, Bytes(metrics.0 + calls.0 + kept.0)),
        Added::AlreadyStored(_) => (false, Bytes(0)),
    };
    IngestedProfile {
        build: ingested.build.clone(),
        added,
        nodes: ingested.nodes,
        frames: ingested.frames,
        slices: ingested.slices,
        metrics_over_time: ingested.metrics,
        calls_over_time: ingested.calls,
        profile: profile_report(ingested.id, &ingested.profile),
        event_totals: ingested.totals.clone(),
        stored_bytes: stored.0,
        saving: stored.times_smaller_than(ingested.profile.source_bytes),
    }
}

pub(super) fn found_symbols(
    (path, symbols): &(String, ModuleSymbols),
    say: &impl Fn(&Notice) -> String,
) -> FoundSymbols {
    FoundSymbols {
        path: path.clone(),
        symbols: symbols.file.as_ref().map(|file| file.display().to_string()),
        locations: symbols.locations,
        unresolved: symbols.unresolved,
        unresolved_samples: symbols.unresolved_samples,
        problem: symbols.problem.as_ref().map(say),
        may_be_found: symbols.may_be_found,
    }
}
