//! Adds a profile. Profiles whose source was read for this store take precedence over other stores' claims.

use crate::codec::{ProfileRecord, ReadingRecord, pack_metrics};
use crate::error::{InternalError, packing_error};
use crate::file::shared::Session;
use crate::read::builds::profile_record;
use crate::read::counts::{CallPacks, SideData};
use crate::read::rows::{NewRows, Rows};
use crate::read::{call_rules, kept, metrics};
use crate::tables::{Column, Record};
use crate::write::next_history;
use crate::{Added, ProfileOrigin, StoreError, Writer, write};
use redb::ReadableDatabase;
use std::borrow::Cow;
use sto_model::id::ProfileId;
use sto_model::tree::ProfileData;
use sto_model::units::Bytes;
use sto_model::{Build, Profile, Stage};

/// The result of adding a profile.
pub(crate) enum AddOutcome {
    Added(Added),
    /// Nothing was changed: the store has another profile of the same source.
    OtherReading(ReadingRecord),
}

impl Writer {
    /// Adds a profile in one transaction.
    ///
    /// A build has one profile per source. If the source was read for this store before, its profile stays
    /// unchanged, except that [metrics over time](sto_model::RunMetrics) are added, replacing metrics of the same
    /// name, and [calls over time](sto_model::trace::RunCalls) replace earlier ones. If the source's profile came
    /// from another store by [`Store::merge`](crate::Store::merge), this profile replaces it.
    ///
    /// The build's known metadata is kept; only missing metadata (GNU build id, revision) is
    /// filled in.
    ///
    /// # Errors
    /// Returns an error if the profile breaks a rule of its types, or the file cannot be written (for example, on
    /// a full disk). The store is then unchanged, except if the final sync to disk fails: then the
    /// profile may be stored.
    pub fn add(
        &mut self,
        build: &Build,
        profile: &Profile,
        interned: &ProfileData,
    ) -> Result<Added, StoreError> {
        let check = || write::check(build, profile, interned);
        let id = self.timings.measure(Stage::Packing, || {
            check().map_err(|error| error.at(self.store().path(), "read"))?;
            Ok::<_, StoreError>(ProfileId::new(build, profile, interned))
        })?;
        match self.add_checked(id, build, profile, interned, (ProfileOrigin::ReadHere, &[]))? {
            AddOutcome::Added(added) => Ok(added),
            AddOutcome::OtherReading(known) => Ok(Added::AlreadyStored(known.profile)),
        }
    }

    /// Replaces a profile by another one of the same source whose function names were found later, in one
    /// transaction. The old profile is then listed as [replaced](crate::Snapshot::replaced).
    ///
    /// # Errors
    /// Like [`Writer::add`]; also returns an error if the old profile does not exist any more.
    pub fn replace(
        &mut self,
        gone: ProfileId,
        build: &Build,
        profile: &Profile,
        interned: &ProfileData,
    ) -> Result<Added, StoreError> {
        write::check(build, profile, interned)
            .map_err(|error| error.at(self.store().path(), "write"))?;
        let id = ProfileId::new(build, profile, interned);
        let (from, replaced) = self.snapshot()?.read(|rows| {
            let known = rows.reading(profile.build_recording_id())?;
            let known = known.filter(|known| known.profile == gone);
            let known = known.ok_or(InternalError::NoProfile(gone))?;
            let mut replaced = rows.replaced()?.remove(&gone).unwrap_or_default();
            replaced.push(gone);
            Ok((known.from, replaced))
        })?;
        match self.add_checked(id, build, profile, interned, (from, &replaced))? {
            AddOutcome::Added(added) => Ok(added),
            AddOutcome::OtherReading(known) => Ok(Added::AlreadyStored(known.profile)),
        }
    }

    /// Adds a profile that keeps the rules of its types. `id` is its content id, `replaced` the profiles that
    /// it replaces.
    pub(crate) fn add_checked(
        &mut self,
        id: ProfileId,
        build: &Build,
        profile: &Profile,
        interned: &ProfileData,
        (from, replaced): (ProfileOrigin, &[ProfileId]),
    ) -> Result<AddOutcome, StoreError> {
        let timings = self.timings.clone();
        let pack =
            || SideData::pack(interned).map_err(|error| error.at(self.store().path(), "read"));
        let side_data = timings.measure(Stage::Packing, pack)?;
        let plan = |rows: &Rows| {
            let data = (interned, side_data.clone());
            plan(rows, id, build, profile, data, (&from, replaced))
        };
        // Plans while others may still read, and before anything is changed: opening the file for writing
        // would already change it.
        let snapshot = self.snapshot()?;
        let (seen, planned) = timings.measure(Stage::Packing, || {
            snapshot.read(|rows| Ok((rows.contents, plan(rows)?)))
        })?;
        drop(snapshot);
        let planned = match planned {
            (put, None) => return Ok(put),
            (put, Some(new)) => (put, new),
        };
        let bytes = planned.1.bytes();
        let write = |session: &Session| {
            let rows = Rows::open(&session.database.begin_read()?)?;
            let (put, new) = if rows.contents == seen {
                planned
            } else {
                match plan(&rows)? {
                    (put, None) => return Ok(put),
                    (put, Some(new)) => (put, new),
                }
            };
            let transaction = session.begin()?;
            new.write(&transaction)?;
            transaction.commit()?;
            Ok(put)
        };
        timings.measure(Stage::Writing, || self.write(Some(bytes), write))
    }
}

/// Decides how to add the profile, and collects the rows to write.
fn plan(
    rows: &Rows,
    id: ProfileId,
    build: &Build,
    profile: &Profile,
    (interned, mut side_data): (&ProfileData, SideData),
    (from, replaced): (&ProfileOrigin, &[ProfileId]),
) -> Result<(AddOutcome, Option<NewRows>), InternalError> {
    let known = rows.reading(profile.build_recording_id())?;
    let is_first_reading = |known: &ReadingRecord| {
        *from == ProfileOrigin::ReadHere && known.from != ProfileOrigin::ReadHere
    };
    let mut profile = Cow::Borrowed(profile);
    match &known {
        Some(known) if is_first_reading(known) && known.profile == id => {
            // Keeps the stored data that the id does not cover.
            let record = profile_record(rows, id)?;
            side_data = merge_side_data(rows, id, &record, interned, side_data)?;
            if side_data.kept.is_none() && has_threads_of(rows, &record, interned)? {
                side_data.kept = kept::packed(rows, record.number)?;
            }
            let mut of_run = record.profile.metrics;
            of_run.extend(profile.metrics.clone());
            profile.to_mut().metrics = of_run;
        }
        Some(known) if is_first_reading(known) => {}
        // A profile that was read here is only replaced by one with names that were found here.
        Some(known)
            if known.profile != id
                && replaced.contains(&known.profile)
                && (known.from != ProfileOrigin::ReadHere || *from == ProfileOrigin::ReadHere) => {}
        Some(known) if *from == ProfileOrigin::ReadHere => {
            // Calls and addresses refer to nodes by index in their own profile's tree.
            if known.profile != id {
                (side_data.calls, side_data.kept, side_data.addresses) = (None, None, None);
            }
            return update_stored(rows, known.profile, interned, side_data);
        }
        Some(known) if known.profile == id => {
            return Ok((AddOutcome::Added(Added::AlreadyStored(id)), None));
        }
        Some(known) => return Ok((AddOutcome::OtherReading(known.clone()), None)),
        None => {}
    }
    let gone = known.as_ref().map(|known| known.profile);
    let mut new = write::plan(
        rows,
        id,
        build,
        &profile,
        (interned, side_data),
        (gone, from),
    )?;
    new.remove_record(Record::Replaced, id.0);
    for &replaced in replaced.iter().filter(|&&replaced| replaced != id) {
        // Another store may claim that any profile was replaced.
        if gone == Some(replaced) || !rows.has_record(Record::Profile, replaced.0)? {
            new.record(Record::Replaced, replaced.0, &id)?;
        }
    }
    if gone == Some(id) {
        return Ok((AddOutcome::Added(Added::AlreadyStored(id)), Some(new)));
    }
    let instead_of = known.map(|known| (known.profile, known.from));
    let added = Added::New {
        id,
        stored: Bytes(new.bytes()),
        slices: Bytes(new.bytes_of(|column| matches!(column, Column::Slices(_)))),
        metrics: Bytes(new.bytes_of(|column| matches!(column, Column::Metrics(_)))),
        calls: Bytes(
            new.bytes_of(|column| matches!(column, Column::Calls(_) | Column::Arguments(_))),
        ),
        kept: Bytes(new.kept_bytes()),
        instead_of,
    };
    Ok((AddOutcome::Added(added), Some(new)))
}

/// Whether the stored calls over time are of the threads that the calls of `interned`, if any, are of. Kept calls refer
/// to these threads.
fn has_threads_of(
    rows: &Rows,
    record: &ProfileRecord,
    interned: &ProfileData,
) -> Result<bool, InternalError> {
    let Some(new) = &interned.calls else {
        return Ok(true);
    };
    let Some(packs) = CallPacks::read(rows, record.number)? else {
        return Ok(false);
    };
    let columns = CallPacks::columns(record.number);
    let stored = call_rules::unpacked(&packs, columns, interned.tree.len())?;
    let threads = stored.threads.iter().map(|calls| &calls.thread);
    Ok(threads.eq(new.threads.iter().map(|calls| &calls.thread)))
}

/// Adds metrics and calls over time to a stored profile.
fn update_stored(
    rows: &Rows,
    id: ProfileId,
    interned: &ProfileData,
    side_data: SideData,
) -> Result<(AddOutcome, Option<NewRows>), InternalError> {
    let mut record = profile_record(rows, id)?;
    let mut before = SideData::read(rows, record.number)?;
    let mut all = merge_side_data(rows, id, &record, interned, side_data)?;
    if all.metrics == before.metrics {
        (all.metrics, before.metrics) = (None, None);
    }
    if all.calls == before.calls {
        (all.calls, before.calls) = (None, None);
    }
    let has_kept = rows.has_column(Column::CallTrees(record.number, 0))?;
    let kept = all.kept.take().filter(|_| !has_kept);
    if all.addresses == before.addresses {
        (all.addresses, before.addresses) = (None, None);
    }
    // These belong to the stored reading.
    (all.sources, before.sources) = (None, None);
    if all.is_same(&SideData::default()) && all.addresses.is_none() && kept.is_none() {
        return Ok((AddOutcome::Added(Added::AlreadyStored(id)), None));
    }
    let mut new = NewRows::new(rows.contents);
    for (column, _) in before.columns(record.number) {
        new.remove_column(column);
        let gone = rows.stored_column(column)?.len() as u64;
        record.columns = record.columns.saturating_sub(gone);
    }
    for (column, pack) in all.columns(record.number) {
        new.contents.history = next_history(new.contents.history, &pack);
        record.columns += new.column(column, pack);
    }
    if let Some(kept) = kept {
        new.contents.history = next_history(new.contents.history, b"calls kept");
        record.columns += new.kept_calls(record.number, kept);
    }
    new.record(Record::Profile, id.0, &record)?;
    let given = Added::Given {
        id,
        metrics: Bytes(new.bytes_of(|column| matches!(column, Column::Metrics(_)))),
        calls: Bytes(
            new.bytes_of(|column| matches!(column, Column::Calls(_) | Column::Arguments(_))),
        ),
        kept: Bytes(new.kept_bytes()),
    };
    Ok((AddOutcome::Added(given), Some(new)))
}

/// Merges the stored and the new side data of a profile with this record.
fn merge_side_data(
    rows: &Rows,
    id: ProfileId,
    record: &ProfileRecord,
    interned: &ProfileData,
    now: SideData,
) -> Result<SideData, InternalError> {
    let known = SideData::read(rows, record.number)?;
    let metrics = match &interned.metrics {
        None => known.metrics,
        Some(metrics) => match metrics::load(rows, id, record)? {
            None => now.metrics,
            Some(known) => {
                let all = known.merge(metrics);
                metrics::check(&all)?;
                Some(pack_metrics(&all).map_err(packing_error)?)
            }
        },
    };
    Ok(SideData {
        metrics,
        calls: now.calls.or(known.calls),
        kept: now.kept,
        sources: now.sources.or(known.sources),
        addresses: known.addresses.or(now.addresses),
    })
}
