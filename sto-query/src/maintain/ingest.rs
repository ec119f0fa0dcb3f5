//! Result of ingesting files.

use crate::answer::Answer;
use crate::listing::{ProfileSummary, summarize_profile};
use serde::Serialize;
use sto_core::Notice;
use sto_core::ingest::{
    IngestOutcome, Ingested, IngestedCalls, IngestedMetrics, IngestedSlices, ModuleSymbols,
};
use sto_core::model::Build;
use sto_core::store::Added;
use sto_core::units::{Bytes, Cost};

/// Result of ingesting files.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestSummary {
    /// The files, in the order of reading.
    pub recordings: Vec<IngestedFile>,
    /// Whether the target is a dataset of Parquet files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_dataset: bool,
}

impl Answer for IngestSummary {
    const SCHEMA: &'static str = "sto.ingest/1";
}

/// Result of ingesting one file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IngestedFile {
    /// The file.
    pub path: String,
    /// The profiles in it, most samples first.
    pub profiles: Vec<IngestedProfile>,
    /// Files with code: most unresolved samples first, equal ones by path.
    pub modules: Vec<FoundSymbols>,
    /// Warnings about the recording, as whole sentences.
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
    /// Whether the profile is new; the same file is stored only once for a build.
    pub added: bool,
    /// Number of stacks, including callers.
    pub nodes: usize,
    /// Number of distinct frames.
    pub frames: usize,
    /// Division of time into slices, if any were stored now.
    pub slices: Option<IngestedSlices>,
    /// Metrics over time, if any were stored now.
    pub metrics_over_time: Option<IngestedMetrics>,
    /// Calls over time, if any were stored now.
    pub calls_over_time: Option<IngestedCalls>,
    /// The profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
    /// Total cost of each event.
    pub event_totals: Vec<Cost>,
    /// Packed size of the data written for it now; zero if it is not new. Data that already existed does not count;
    /// existing data repacked together with new data does.
    pub stored_bytes: u64,
    /// Ratio of the recording's size to that; `None` if nothing was written.
    pub saving: Option<f64>,
}

/// Result of symbolising a module.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundSymbols {
    /// Recorded path of the module.
    pub path: String,
    /// Path of the file with its symbols.
    pub symbols: Option<String>,
    /// Number of distinct sampled locations.
    pub locations: usize,
    /// Number of locations without a symbol.
    pub unresolved: usize,
    /// Number of samples with an unresolved location on their stack.
    pub unresolved_samples: u64,
    /// Reason for unresolved locations, and advice.
    pub problem: Option<String>,
    /// Whether a file with more symbols may become available.
    #[serde(skip)]
    pub may_be_found: bool,
}

impl IngestedFile {
    /// Creates the report of a file. `say` formats a notice with advice.
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
        _ => (false, Bytes(0)),
    };
    IngestedProfile {
        build: ingested.build.clone(),
        added,
        nodes: ingested.nodes,
        frames: ingested.frames,
        slices: ingested.slices,
        metrics_over_time: ingested.metrics,
        calls_over_time: ingested.calls,
        profile: summarize_profile(ingested.id, &ingested.profile),
        event_totals: ingested.totals.clone(),
        stored_bytes: stored.0,
        saving: stored.compression_ratio(ingested.profile.source_bytes),
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
