//! Selection and order of listed builds and runs.

mod builds;
mod labels;

pub use builds::{ListedBuild, ListedProfile, ProfileSummary, QualityShares, Totals};

pub(crate) use builds::summarize_profile;
pub use builds::{BuildList, list_builds};
pub use labels::{LabelList, MetricRange};

use crate::answer::{Answer, truncate};
use crate::select::{first_recorded, is_of_benchmark, matches_name};
use crate::text::printable;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_core::model::{Build, Profile};
use sto_core::store::StoredBuild;
use sto_core::units::{Bytes, UnixSeconds};

/// Selection of listed runs, which must match all filters; newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Listing {
    /// Only runs of this program.
    pub executable: Option<String>,
    /// Only runs of these benchmarks, if any; `*` in a name stands for any text.
    pub benchmarks: Vec<String>,
    /// Only runs recorded at this time or later.
    pub since: Option<UnixSeconds>,
    /// Only runs recorded before this time.
    pub until: Option<UnixSeconds>,
    /// Only runs with all of these labels.
    pub labels: BTreeMap<String, String>,
    /// Only runs with this text in the name of the program, build or benchmark, regardless of case.
    pub text: Option<String>,
    /// Number of builds or runs to leave out at the beginning.
    pub offset: usize,
    /// Maximum number of builds or runs.
    pub limit: Option<usize>,
}

/// Error of listing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListingError {
    /// No run is of the program.
    #[error("the store has no run of `{}`; there are runs of {}", printable(.name), listed(.known))]
    NoExecutable {
        /// Name of the program, as given.
        name: String,
        /// Programs in the store.
        known: Vec<String>,
    },
    /// No run is of the benchmark.
    #[error(
        "no run is of the benchmark `{}`{}",
        printable(.name),
        match &known[..] {
            [] => "; no run names its benchmark".to_owned(),
            known => format!("; there are runs of {}", listed(known)),
        }
    )]
    NoBenchmark {
        /// Name of the benchmark, as given.
        name: String,
        /// Benchmarks in the store.
        known: Vec<String>,
    },
    /// No run matches both program and benchmark, or none is recent enough.
    #[error(
        "{}",
        .newest.as_ref().map_or(
            "no run of this program is of this benchmark".to_owned(),
            |newest| format!("no run was recorded since then; the newest one was recorded {newest}")
        )
    )]
    Nothing {
        /// Recording time of the newest run that matches all filters except the time.
        newest: Option<String>,
    },
    /// Runs match all filters except labels, text, or the end of the time.
    #[error("no run has these labels, this text, and a time before the given one")]
    NoMatch,
}

impl Listing {
    /// Lists builds with their runs; `file_size` is `None` for a store in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if none of the runs matches, unless the store is empty.
    pub fn builds(
        &self,
        builds: Vec<StoredBuild>,
        file_size: Option<Bytes>,
    ) -> Result<BuildList, ListingError> {
        let mut builds = self.chosen(builds)?;
        // The sort is stable, so builds without a recording time stay in the store's order.
        builds.sort_by_key(|build| Reverse(first_recorded(build)));
        for build in &mut builds {
            build.profiles.reverse();
            build
                .profiles
                .sort_by_key(|stored| Reverse(stored.profile.origin.recorded));
        }
        let is_all = Listing {
            limit: None,
            offset: 0,
            ..self.clone()
        } == Listing::default();
        let mut report = list_builds(&builds, file_size.filter(|_| is_all));
        report.builds.drain(..self.offset.min(report.builds.len()));
        report.more = truncate(&mut report.builds, self.limit);
        Ok(report)
    }

    /// Lists runs individually, without averages.
    ///
    /// # Errors
    ///
    /// Returns an error if none of the runs matches, unless the store is empty.
    pub fn runs(&self, builds: Vec<StoredBuild>) -> Result<RunList, ListingError> {
        let builds = self.chosen(builds)?;
        let of_build = |build| move |profile| (build, profile);
        let mut found: Vec<_> = builds
            .iter()
            .flat_map(|build| build.profiles.iter().map(of_build(build)))
            .filter(|(_, stored)| !stored.profile.is_average())
            .collect();
        found.reverse();
        found.sort_by_key(|(_, stored)| Reverse(stored.profile.origin.recorded));
        found.drain(..self.offset.min(found.len()));
        let more = truncate(&mut found, self.limit);
        let runs = found.into_iter();
        Ok(RunList {
            runs: runs
                .map(|(build, stored)| ListedRun {
                    executable: build.build.executable.clone(),
                    build: build.build.version.clone(),
                    profile: summarize_profile(stored.id, &stored.profile),
                })
                .collect(),
            more,
        })
    }

    /// Returns the builds with the matching runs; offset and limit don't apply.
    pub(crate) fn chosen(
        &self,
        mut builds: Vec<StoredBuild>,
    ) -> Result<Vec<StoredBuild>, ListingError> {
        let of_store = builds.iter().flat_map(|build| &build.profiles);
        if of_store.count() == 0 {
            return Ok(builds);
        }
        if let Some(name) = &self.executable {
            let is_of = |build: &StoredBuild| build.build.executable == *name;
            if !builds.iter().any(is_of) {
                let known = builds.iter().map(|build| build.build.executable.clone());
                let mut known: Vec<String> = known.collect();
                known.dedup();
                return Err(ListingError::NoExecutable {
                    name: name.clone(),
                    known,
                });
            }
            builds.retain(is_of);
        }
        for name in &self.benchmarks {
            let benchmarks = builds.iter().flat_map(|build| &build.profiles);
            let mut known: Vec<String> = benchmarks
                .filter_map(|stored| stored.profile.benchmark.clone())
                .collect();
            known.sort();
            known.dedup();
            if !name.is_empty() && !known.iter().any(|known| matches_name(name, known)) {
                return Err(ListingError::NoBenchmark {
                    name: name.clone(),
                    known,
                });
            }
        }
        for build in &mut builds {
            build
                .profiles
                .retain(|run| self.benchmarks.is_empty() || is_of_benchmark(&self.benchmarks, run));
        }
        let newest = builds.iter().flat_map(|build| &build.profiles);
        let newest = newest
            .filter_map(|stored| stored.profile.origin.recorded)
            .max();
        for build in &mut builds {
            build
                .profiles
                .retain(|stored| self.is_since(&stored.profile));
        }
        builds.retain(|build| !build.profiles.is_empty());
        if builds.is_empty() {
            return Err(ListingError::Nothing {
                newest: newest.map(|time| time.to_string()),
            });
        }
        for build in &mut builds {
            let StoredBuild {
                build, profiles, ..
            } = build;
            profiles.retain(|stored| self.matches(build, &stored.profile));
        }
        builds.retain(|build| !build.profiles.is_empty());
        match &builds[..] {
            [] => Err(ListingError::NoMatch),
            _ => Ok(builds),
        }
    }

    /// Whether a run has the labels, the text and a time before the end.
    fn matches(&self, build: &Build, profile: &Profile) -> bool {
        let has = |(key, value): (&String, &String)| profile.labels.get(key) == Some(value);
        let is_before = self.until.is_none_or(|until| {
            let recorded = profile.origin.recorded;
            recorded.is_some_and(|recorded| recorded < until)
        });
        let benchmark = profile.benchmark.as_deref().unwrap_or_default();
        let names = [&*build.executable, &*build.version, benchmark];
        let has_text = self.text.as_ref().is_none_or(|text| {
            let text = text.to_lowercase();
            names.iter().any(|name| name.to_lowercase().contains(&text))
        });
        is_before && has_text && self.labels.iter().all(has)
    }

    fn is_since(&self, profile: &Profile) -> bool {
        let recorded = profile.origin.recorded;
        self.since
            .is_none_or(|since| recorded.is_some_and(|recorded| recorded >= since))
    }
}

fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
    names.join(", ")
}

/// The runs of a store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunList {
    /// The runs, newest recording first; runs without a recording time come last.
    pub runs: Vec<ListedRun>,
    /// Number of runs that a limit left out.
    pub more: usize,
}

impl Answer for RunList {
    const SCHEMA: &'static str = "sto.runs/1";
}

/// A run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListedRun {
    /// The program.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// Its profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
}
