//! List of the builds in a store.

use crate::answer::Answer;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use sto_core::id::ProfileId;
use sto_core::model::{Build, Profile, Quality};
use sto_core::store::{StoredBuild, StoredProfile};
use sto_core::units::{Bytes, SampleType};

/// Builds and profiles of a store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BuildList {
    /// The builds; [in a listing](super::Listing), most recently recorded first.
    pub builds: Vec<ListedBuild>,
    /// Number of builds that a limit left out.
    pub more: usize,
    /// Sums over all builds, including those left out by a limit.
    pub totals: Totals,
    /// Size of the store's file in bytes; `None` for a store in memory, and if only some runs are listed.
    pub file_bytes: Option<u64>,
    /// Ratio of the recordings' size to the file's size; `None` without either.
    pub saving: Option<f64>,
}

impl Answer for BuildList {
    const SCHEMA: &'static str = "sto.ls/1";
}

/// A build and its profiles.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListedBuild {
    /// The build.
    #[serde(flatten)]
    pub build: Build,
    /// Tags, sorted by name; omitted from JSON if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The profiles; [in a listing](super::Listing), newest recording first.
    pub profiles: Vec<ListedProfile>,
    /// Sums over the profiles.
    pub totals: Totals,
}

/// Sums over profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Totals {
    /// Number of profiles.
    pub profiles: usize,
    /// Number of samples.
    pub samples: u64,
    /// Size of the recordings, each counted once.
    pub source_bytes: u64,
    /// Packed size of data that belongs to single profiles. Frames and stacks are shared by all.
    pub own_bytes: u64,
}

/// A profile of a store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListedProfile {
    /// The profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
    /// Packed size of the profile's own data: counts and record. Frames and stacks are shared by all profiles.
    pub own_bytes: u64,
    /// Size of the slices of time in that; 0 if none are stored.
    pub slices_bytes: u64,
}

/// A profile.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProfileSummary {
    /// Content address.
    pub id: ProfileId,
    /// Recording time in RFC 3339 format.
    pub recorded: Option<String>,
    /// The format it was read from.
    pub format: String,
    /// The benchmark that ran.
    pub benchmark: Option<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Metrics.
    pub metrics: BTreeMap<String, f64>,
    /// Sample types.
    pub events: Vec<SampleType>,
    /// Number of samples.
    pub samples: u64,
    /// Size of the recording.
    pub source_bytes: u64,
    /// Quality of the recording.
    pub quality: QualityShares,
}

/// Quality of a recording: shares of its samples, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QualityShares {
    /// Samples whose innermost frame has no symbol.
    pub unresolved: f64,
    /// Samples whose stack was cut before its root.
    pub truncated: f64,
    /// Samples with no more than the instruction pointer.
    pub without_stack: f64,
    /// Share of events dropped while recording.
    pub lost: f64,
}

/// Lists the contents of a store; `file_size` is `None` for a store in memory.
pub fn list_builds(builds: &[StoredBuild], file_size: Option<Bytes>) -> BuildList {
    let totals = Totals::from_profiles(builds.iter().flat_map(|build| &build.profiles));
    BuildList {
        builds: builds.iter().map(build_report).collect(),
        more: 0,
        totals,
        file_bytes: file_size.map(|bytes| bytes.0),
        saving: file_size.and_then(|size| size.compression_ratio(Bytes(totals.source_bytes))),
    }
}

fn build_report(stored: &StoredBuild) -> ListedBuild {
    ListedBuild {
        build: stored.build.clone(),
        tags: stored.tags.clone(),
        profiles: stored
            .profiles
            .iter()
            .map(|stored| ListedProfile {
                profile: summarize_profile(stored.id, &stored.profile),
                own_bytes: stored.stored.0,
                slices_bytes: stored.slices.0,
            })
            .collect(),
        totals: Totals::from_profiles(&stored.profiles),
    }
}

pub(crate) fn summarize_profile(id: ProfileId, profile: &Profile) -> ProfileSummary {
    ProfileSummary {
        id,
        recorded: profile.origin.recorded.map(|time| time.to_string()),
        format: profile.format.clone(),
        benchmark: profile.benchmark.clone(),
        labels: profile.labels.clone(),
        metrics: profile.metrics.clone(),
        events: profile.sample_types.clone(),
        samples: profile.quality.samples,
        source_bytes: profile.source_bytes.0,
        quality: profile.quality.into(),
    }
}

impl Totals {
    fn from_profiles<'a>(profiles: impl IntoIterator<Item = &'a StoredProfile>) -> Self {
        let mut totals = Totals::default();
        let mut sources = HashSet::new();
        for stored in profiles {
            let profile = &stored.profile;
            totals.profiles += 1;
            totals.samples = totals.samples.saturating_add(profile.quality.samples);
            if sources.insert(profile.source) {
                totals.source_bytes = totals.source_bytes.saturating_add(profile.source_bytes.0);
            }
            totals.own_bytes = totals.own_bytes.saturating_add(stored.stored.0);
        }
        totals
    }
}

impl From<Quality> for QualityShares {
    fn from(quality: Quality) -> Self {
        let of = |part: u64, whole: u64| {
            if whole == 0 {
                0.0
            } else {
                part as f64 / whole as f64
            }
        };
        QualityShares {
            unresolved: of(quality.unresolved, quality.samples),
            truncated: of(quality.truncated, quality.samples),
            without_stack: of(quality.without_stack, quality.samples),
            lost: of(quality.lost, quality.samples.saturating_add(quality.lost)),
        }
    }
}
