//! What a store has.

use super::{SampleTypeReport, rfc3339};
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::model::{Profile, Quality};
use sto_core::store::{StoredBuild, StoredProfile};
use sto_core::units::Bytes;

/// Every build and profile of a store; schema `sto.ls/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LsReport {
    /// `sto.ls/1`.
    pub schema: &'static str,
    /// The builds, in the store's order.
    pub builds: Vec<BuildReport>,
    /// Sums over all builds.
    pub totals: Totals,
    /// Size of the store's file in bytes; `None` in memory. It has room for what comes next, and
    /// so more than the packed records.
    pub file_bytes: Option<u64>,
}

/// A build and its profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BuildReport {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub version: String,
    /// GNU build id, in hexadecimal.
    pub gnu_build_id: Option<String>,
    /// Revision of the work tree.
    pub revision: Option<String>,
    /// The profiles, oldest recording first.
    pub profiles: Vec<ProfileReport>,
    /// Sums over its profiles.
    pub totals: Totals,
}

/// Sums over profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Number of profiles.
    pub profiles: usize,
    /// Number of samples.
    pub samples: u64,
    /// Size of the recordings.
    pub source_bytes: u64,
    /// Packed size of what was written for them.
    pub stored_bytes: u64,
    /// How many times smaller `stored_bytes` is; `None` where nothing is stored.
    pub saving: Option<f64>,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileReport {
    /// Its content address.
    pub id: String,
    /// When it was recorded, as RFC 3339 writes it.
    pub recorded: Option<String>,
    /// The format it was read from.
    pub format: String,
    /// The benchmark that ran.
    pub benchmark: Option<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Metrics.
    pub metrics: BTreeMap<String, f64>,
    /// What was measured.
    pub events: Vec<SampleTypeReport>,
    /// Number of samples.
    pub samples: u64,
    /// Size of the recording.
    pub source_bytes: u64,
    /// Packed size of what was written for it.
    pub stored_bytes: u64,
    /// How much of that are its slices of time; 0 where none are kept.
    pub slices_bytes: u64,
    /// How many times smaller that is.
    pub saving: Option<f64>,
    /// How much of it can be trusted.
    pub quality: QualityReport,
}

/// How much of a profile can be trusted: shares of its samples, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QualityReport {
    /// Samples whose innermost frame has no symbol.
    pub unresolved: f64,
    /// Samples whose stack was cut before its root.
    pub truncated: f64,
    /// Samples with no more than the instruction pointer.
    pub without_stack: f64,
    /// Events that were dropped while recording, as a share of those and the samples.
    pub lost: f64,
}

/// Lists what a store has; `file_size` is `None` in memory.
pub fn ls(builds: &[StoredBuild], file_size: Option<Bytes>) -> LsReport {
    LsReport {
        schema: "sto.ls/1",
        builds: builds.iter().map(build_report).collect(),
        totals: Totals::of(builds.iter().flat_map(|build| &build.profiles)),
        file_bytes: file_size.map(|bytes| bytes.0),
    }
}

fn build_report(stored: &StoredBuild) -> BuildReport {
    let build = &stored.build;
    BuildReport {
        executable: build.executable.clone(),
        version: build.version.clone(),
        gnu_build_id: build.gnu_build_id.as_ref().map(|id| id.to_string()),
        revision: build.revision.clone(),
        profiles: stored
            .profiles
            .iter()
            .map(|stored| profile_report(stored.id, &stored.profile, stored.stored, stored.slices))
            .collect(),
        totals: Totals::of(&stored.profiles),
    }
}

pub(super) fn profile_report(
    id: ProfileId,
    profile: &Profile,
    stored: Bytes,
    slices: Bytes,
) -> ProfileReport {
    ProfileReport {
        id: id.to_string(),
        recorded: profile.origin.recorded.map(rfc3339),
        format: profile.format.clone(),
        benchmark: profile.benchmark.clone(),
        labels: profile.labels.clone(),
        metrics: profile.metrics.clone(),
        events: profile
            .sample_types
            .iter()
            .map(SampleTypeReport::from)
            .collect(),
        samples: profile.quality.samples,
        source_bytes: profile.source_bytes.0,
        stored_bytes: stored.0,
        slices_bytes: slices.0,
        saving: saving(profile.source_bytes.0, stored.0),
        quality: profile.quality.into(),
    }
}

impl Totals {
    fn of<'a>(profiles: impl IntoIterator<Item = &'a StoredProfile>) -> Self {
        let mut totals = Totals::default();
        for stored in profiles {
            let profile = &stored.profile;
            totals.profiles += 1;
            totals.samples = totals.samples.saturating_add(profile.quality.samples);
            totals.source_bytes = totals.source_bytes.saturating_add(profile.source_bytes.0);
            totals.stored_bytes = totals.stored_bytes.saturating_add(stored.stored.0);
        }
        totals.saving = saving(totals.source_bytes, totals.stored_bytes);
        totals
    }
}

impl From<Quality> for QualityReport {
    fn from(quality: Quality) -> Self {
        let of = |part: u64, whole: u64| {
            if whole == 0 {
                0.0
            } else {
                part as f64 / whole as f64
            }
        };
        QualityReport {
            unresolved: of(quality.unresolved, quality.samples),
            truncated: of(quality.truncated, quality.samples),
            without_stack: of(quality.without_stack, quality.samples),
            lost: of(quality.lost, quality.samples.saturating_add(quality.lost)),
        }
    }
}

fn saving(source_bytes: u64, stored_bytes: u64) -> Option<f64> {
    (stored_bytes > 0).then(|| source_bytes as f64 / stored_bytes as f64)
}
