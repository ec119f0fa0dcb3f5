//! The runs of a store, one after another.

use super::ProfileReport;
use super::ls::profile_report;
use serde::Serialize;
use sto_core::store::StoredBuild;

/// The runs of a store; schema `sto.runs/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunsReport {
    /// `sto.runs/1`.
    pub schema: &'static str,
    /// The runs, oldest recording first; those that do not tell when come last.
    pub runs: Vec<ListedRun>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedRun {
    /// The program.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// Its profile.
    #[serde(flatten)]
    pub profile: ProfileReport,
}

/// Lists the runs of a program and a benchmark, or of any.
pub fn runs(
    builds: &[StoredBuild],
    executable: Option<&str>,
    benchmark: Option<&str>,
) -> RunsReport {
    let mut found = Vec::new();
    for stored in builds {
        if executable.is_some_and(|name| name != stored.build.executable) {
            continue;
        }
        for profile in &stored.profiles {
            if benchmark.is_none() || profile.profile.benchmark.as_deref() == benchmark {
                found.push((stored, profile));
            }
        }
    }
    // Stable: builds and their profiles come in order.
    found.sort_by_key(|(_, profile)| profile.profile.order_of_recording());
    RunsReport {
        schema: "sto.runs/1",
        runs: found
            .into_iter()
            .map(|(stored, profile)| ListedRun {
                executable: stored.build.executable.clone(),
                build: stored.build.version.clone(),
                profile: profile_report(profile.id, &profile.profile),
            })
            .collect(),
    }
}
