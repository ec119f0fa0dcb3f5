//! `profile`: a row a run, and what is known of it.

use super::LakeError;
use super::columns::{Column, file, text};
use serde::Serialize;
use sto_core::store::StoredProfile;

/// The file of a run.
pub(super) fn profile(run: &StoredProfile) -> Result<Vec<u8>, LakeError> {
    let StoredProfile { id, profile, .. } = run;
    let (origin, quality) = (&profile.origin, profile.quality);
    let event = profile.sample_types.first();
    let commit = run.commit.as_ref().map(|commit| commit.hash.to_string());
    let known = |name, value: Option<&str>| {
        let value = value.filter(|value| !value.is_empty()).map(text);
        Column::text(name, move |()| value.clone())
    };
    let count = |name, value: Option<u64>| Column::count(name, move |()| value);
    let columns = [
        known("id", Some(&id.to_string())),
        known("executable_id", Some(&profile.build.to_string())),
        count("recorded", origin.recorded.map(|time| time.0)),
        count("duration", origin.duration.map(|time| time.0)),
        known("benchmark", profile.benchmark.as_deref()),
        known("host", origin.host.as_deref()),
        known("kernel", origin.kernel.as_deref()),
        known("arch", origin.arch.as_deref()),
        known("cpu", origin.cpu.as_deref()),
        known("command", origin.command.as_deref()),
        known("format", Some(&profile.format)),
        known("event", event.map(|event| &*event.event)),
        known("unit", event.map(|event| event.unit.name())),
        known("git_commit", commit.as_deref()),
        known("revision", run.revision.as_deref()),
        count("samples", Some(quality.samples)),
        count("unresolved", Some(quality.unresolved)),
        count("truncated", Some(quality.truncated)),
        count("without_stack", Some(quality.without_stack)),
        count("lost", Some(quality.lost)),
        count("source_bytes", Some(profile.source_bytes.0)),
        known("labels", Some(&json(&profile.labels))),
        known("metrics", Some(&json(&profile.metrics))),
    ];
    file(&[()], &columns)
}

/// An object of JSON, by names.
fn json(map: &impl Serialize) -> String {
    serde_json::to_string(map).expect("maps by text become JSON")
}
