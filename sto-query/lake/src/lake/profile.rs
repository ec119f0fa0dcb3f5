//! `profile`: one row per run with its record.

use super::LakeError;
use super::columns::{Column, file, text};
use super::read::Table;
use super::sample::ProfileToAdd;
use parquet::data_type::ByteArray;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use sto_model::tree::ProfileData;
use sto_model::{Build, Profile};
use sto_store::{StoredProfile, pack_rest, unpack_rest};

/// The build and profile of a run, stored as JSON in the column `record`.
#[derive(Serialize, Deserialize)]
pub(super) struct Record<'a> {
    /// Build information from this run only.
    pub(super) build: Cow<'a, Build>,
    pub(super) profile: Cow<'a, Profile>,
}

impl Record<'_> {
    /// Creates the record of a run; executable and version are the build's.
    fn new<'a>(run: &'a StoredProfile, build: &Build) -> Record<'a> {
        let of_run = Build {
            executable: build.executable.clone(),
            version: build.version.clone(),
            gnu_build_id: run.gnu_build_id.clone(),
            revision: run.revision.clone(),
            commit: run.commit.clone(),
        };
        Record {
            build: Cow::Owned(of_run),
            profile: Cow::Borrowed(&run.profile),
        }
    }
}

/// Encodes the file of a run.
pub(super) fn profile(
    ProfileToAdd {
        build,
        run,
        interned,
        ..
    }: &ProfileToAdd<'_>,
) -> Result<Vec<u8>, LakeError> {
    let StoredProfile { id, profile, .. } = run;
    let (origin, quality) = (&profile.origin, profile.quality);
    let event = profile.sample_types.first();
    let commit = run.commit.as_ref().map(|commit| commit.hash.to_string());
    let known = |name, value: Option<&str>| {
        let value = value.filter(|value| !value.is_empty()).map(text);
        Column::text(name, move |()| value.clone())
    };
    let count = |name, value: Option<u64>| Column::count(name, move |()| value);
    let rest: ByteArray = pack_rest(interned)?.into();
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
        known("record", Some(&json(&Record::new(run, build)))),
        Column::bytes("rest", move |()| Some(rest.clone())),
    ];
    file(&[()], &columns)
}

/// Encodes a value as JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps by text, and records, become JSON")
}

/// Reads the record from a run's file.
pub(super) fn record(file: &str, bytes: Vec<u8>) -> Result<Record<'static>, LakeError> {
    let table = Table::open(file, bytes)?;
    let record = table.texts("record")?;
    let [record] = &record[..] else {
        return Err(table.damaged("it does not have exactly one row"));
    };
    serde_json::from_str(table.text(record.as_ref())?)
        .map_err(|error| table.damaged(format!("column record: {error}")))
}

/// Adds the remaining data in a run's file to its stacks and costs.
pub(super) fn add_rest(
    file: &str,
    bytes: Vec<u8>,
    interned: &mut ProfileData,
) -> Result<(), LakeError> {
    let table = Table::open(file, bytes)?;
    let rest = table.texts("rest")?;
    let [Some(rest)] = &rest[..] else {
        return Err(table.damaged("it does not have exactly one row with the rest"));
    };
    let done = unpack_rest(interned, rest.data());
    done.map_err(|error| table.damaged(format!("column rest: {error}")))
}
