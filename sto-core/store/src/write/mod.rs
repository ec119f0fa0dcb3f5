//! Adds and removes profiles, metrics, tags and commits.

pub(crate) mod add;
mod batch;
mod build;
mod check;
mod commits;
pub(crate) mod frames;
mod match_tree;
pub(crate) mod metrics;
pub(crate) mod nodes;
mod remove;
pub(crate) mod tags;

use crate::ProfileOrigin;
use crate::codec::{ProfileRecord, ReadingRecord, pack_modules};
use crate::error::{InternalError, Result, packing_error};
use crate::numbers::{ModulesNo, Number, ProfileNo};
use crate::read::counts::{Counts, SideData};
use crate::read::rows::{NewRows, Rows};
use crate::tables::{Column, Record};
use std::collections::BTreeSet;
use std::sync::Arc;
use sto_model::id::ProfileId;
use sto_model::tree::ProfileData;
use sto_model::{Build, ModuleRef, Profile};

pub use batch::NewProfile;
pub(crate) use build::{BuildTotals, CostAdder, sum};
pub(crate) use check::{check, check_stored, content_mismatch};
pub(crate) use remove::Removal;

/// Collects the rows that add a profile and its side data to a store, possibly as a replacement of another
/// profile of its build.
pub(crate) fn plan(
    rows: &Rows,
    id: ProfileId,
    build: &Build,
    profile: &Profile,
    (interned, side_data): (&ProfileData, SideData),
    (gone, from): (Option<ProfileId>, &ProfileOrigin),
) -> Result<NewRows> {
    let mut new = NewRows::new(rows.contents);
    let frames = frames::plan(rows, &mut new, &interned.frames)?;
    let (packs, nodes) = rayon::join(
        || frames.pack(),
        || nodes::plan(rows, &mut new, build, &interned.tree, &frames.numbers),
    );
    packs?.write(&mut new);
    let (nodes, nodes_end) = nodes?;
    let counts = Counts::new(interned, side_data, &nodes, &frames.numbers)?;
    let mut tally = match (gone, rows.record(Record::Build, build.id().0)?) {
        (Some(gone), Some(record)) => {
            let removal = Removal::new(rows, &BTreeSet::from([gone]))?;
            removal.write_profiles(&mut new);
            removal.rebuild_without(rows, &mut new, record)?
        }
        (_, Some(record)) => BuildTotals::load(rows, record, &profile.sample_types, nodes_end)?,
        (_, None) => BuildTotals::new(build, &mut new.contents)?,
    };
    let modules = plan_modules(&mut new, &profile.modules, |digest| {
        rows.record(Record::ModuleList, digest)
    })?;
    let reading = ReadingRecord {
        profile: id,
        from: from.clone(),
    };
    add(
        &mut new, &mut tally, &reading, build, profile, modules, &counts,
    )?;
    tally.write(&mut new)?;
    commits::plan(rows, &mut new, build)?;
    Ok(new)
}

/// Adds a profile to the new rows and to its build. Its frames, nodes and module list must be in the store or
/// among the new rows.
pub(crate) fn add(
    new: &mut NewRows,
    tally: &mut BuildTotals,
    reading: &ReadingRecord,
    build: &Build,
    profile: &Profile,
    modules: ModulesNo,
    counts: &Counts,
) -> Result<()> {
    let number = write_profile(new, reading, build, profile, modules, counts)?;
    tally.add(reading.profile, build, profile, number, &counts.costs)
}

/// Adds a profile to the new rows only; returns its number.
fn write_profile(
    new: &mut NewRows,
    reading: &ReadingRecord,
    build: &Build,
    profile: &Profile,
    modules: ModulesNo,
    counts: &Counts,
) -> Result<ProfileNo> {
    let id = reading.profile;
    let number = take_number(&mut new.contents.next_profile)?;
    new.contents.profiles += 1;
    let sizes = counts.write(new, number)?;
    let record = ProfileRecord {
        number,
        columns: sizes.columns,
        modules,
        gnu_build_id: build.gnu_build_id.clone(),
        revision: build.revision.clone(),
        slices: sizes.slices,
        profile: Profile {
            modules: Arc::default(),
            ..profile.clone()
        },
    };
    new.record(Record::Profile, id.0, &record)?;
    new.record(Record::Reading, profile.build_recording_id().0, reading)?;
    new.contents.history = next_history(new.contents.history, &id.0);
    Ok(number)
}

/// The digest of a store's history after another change.
pub(crate) fn next_history(history: [u8; 16], done: &[u8]) -> [u8; 16] {
    digest(&[&history, done])
}

pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    digest
}

pub(crate) fn take_number<N: Number>(next: &mut N) -> Result<N> {
    let number = *next;
    let following = number.number().checked_add(1);
    *next = N::new(following.ok_or(InternalError::Refused("the store has no free numbers left"))?);
    Ok(number)
}

/// Adds a list of modules, unless an equal one is stored; returns its number.
pub(crate) fn plan_modules(
    new: &mut NewRows,
    modules: &[ModuleRef],
    stored: impl FnOnce([u8; 16]) -> Result<Option<ModulesNo>>,
) -> Result<ModulesNo> {
    let list = pack_modules(modules).map_err(packing_error)?;
    let digest = digest(&[&list]);
    if let Some(number) = stored(digest)? {
        return Ok(number);
    }
    let number = take_number(&mut new.contents.modules)?;
    new.record(Record::ModuleList, digest, &number)?;
    new.column(Column::Modules(number), list);
    Ok(number)
}
