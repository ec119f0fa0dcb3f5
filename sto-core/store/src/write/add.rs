//! Adding a profile: what was read here counts, and what another store claims does not get in its way.

use crate::codec::{ProfileRecord, ReadingRecord, pack_metrics};
use crate::error::{InternalError, refused};
use crate::file::access::begin;
use crate::read::builds::profile_record;
use crate::read::counts::Beside;
use crate::read::kept;
use crate::read::metrics::{check, of_record};
use crate::read::rows::{NewRows, Rows};
use crate::tables::{Column, Record};
use crate::write::after;
use crate::{Added, CameFrom, StoreError, Writer, write};
use redb::ReadableDatabase;
use std::borrow::Cow;
use sto_model::id::ProfileId;
use sto_model::tree::Interned;
use sto_model::units::Bytes;
use sto_model::{Build, Profile};

/// What becomes of a profile that is to go in.
pub(crate) enum Put {
    Added(Added),
    /// Another profile stands for its source here: nothing was changed.
    OtherReading(ReadingRecord),
}

impl Writer<'_> {
    /// Adds a profile in one transaction: all of it, or nothing.
    ///
    /// A source is in a build once. Where it was added here before, it stays as it was then, whatever the
    /// profile has now; only [metrics over time](sto_model::RunMetrics) go in then, too, in place of such of the same name, and
    /// [calls over time](sto_model::trace::RunCalls) in place of others.
    /// Where it came from another store by [`Store::merge`](crate::Store::merge), this one replaces it.
    ///
    /// What is known of the build is kept; only what was not known of it yet (GNU build id,
    /// revision) is filled in.
    ///
    /// # Errors
    /// Where the profile breaks the rules of its types, or the file cannot be written (say, a full
    /// disk): the store is then as it was. Only where it is not certain that the disk has all that was
    /// written, the profile may be there.
    pub fn add(
        &mut self,
        build: &Build,
        profile: &Profile,
        interned: &Interned,
    ) -> Result<Added, StoreError> {
        write::check(build, profile, interned)
            .map_err(|error| error.at(self.store().path(), "read"))?;
        let id = ProfileId::of(build, profile, interned);
        match self.put(id, build, profile, interned, (CameFrom::ReadHere, &[]))? {
            Put::Added(added) => Ok(added),
            Put::OtherReading(known) => Ok(Added::AlreadyStored(known.profile)),
        }
    }

    /// Puts a profile in the place of another one of its source, with the names that were found since, in one
    /// transaction. From then on that one is known as [replaced](crate::Snapshot::replaced).
    ///
    /// # Errors
    /// As [`Writer::add`], and where the other one is not there any more.
    pub fn replace(
        &mut self,
        gone: ProfileId,
        build: &Build,
        profile: &Profile,
        interned: &Interned,
    ) -> Result<Added, StoreError> {
        write::check(build, profile, interned)
            .map_err(|error| error.at(self.store().path(), "write"))?;
        let id = ProfileId::of(build, profile, interned);
        let (from, replaced) = self.store().snapshot()?.read(|rows| {
            let known = rows.reading(profile.reading())?;
            let known = known.filter(|known| known.profile == gone);
            let known = known.ok_or(InternalError::NoProfile(gone))?;
            let mut replaced = rows.replaced()?.remove(&gone).unwrap_or_default();
            replaced.push(gone);
            Ok((known.from, replaced))
        })?;
        match self.put(id, build, profile, interned, (from, &replaced))? {
            Put::Added(added) => Ok(added),
            Put::OtherReading(known) => Ok(Added::AlreadyStored(known.profile)),
        }
    }

    /// Adds a profile with this content address, which keeps the rules of its types, and says in whose place it
    /// stands.
    pub(crate) fn put(
        &mut self,
        id: ProfileId,
        build: &Build,
        profile: &Profile,
        interned: &Interned,
        (from, replaced): (CameFrom, &[ProfileId]),
    ) -> Result<Put, StoreError> {
        let plan = |rows: &Rows| plan(rows, id, build, profile, interned, (&from, replaced));
        // All work is done while others may still read, and before anything is changed: opening
        // for writing alone changes the file.
        let (seen, planned) = self
            .store()
            .snapshot()?
            .read(|rows| Ok((rows.contents, plan(rows)?)))?;
        let planned = match planned {
            (put, None) => return Ok(put),
            (put, Some(new)) => (put, new),
        };
        self.write(Some(planned.1.bytes()), |database| {
            let transaction = begin(database)?;
            let rows = Rows::open(&database.begin_read()?)?;
            let (put, new) = match rows.contents == seen {
                true => planned,
                false => match plan(&rows)? {
                    (put, None) => return Ok(put),
                    (put, Some(new)) => (put, new),
                },
            };
            new.write(&transaction)?;
            transaction.commit()?;
            Ok(put)
        })
    }
}

/// What becomes of the profile, and what is to be written for it.
fn plan(
    rows: &Rows,
    id: ProfileId,
    build: &Build,
    profile: &Profile,
    interned: &Interned,
    (from, replaced): (&CameFrom, &[ProfileId]),
) -> Result<(Put, Option<NewRows>), InternalError> {
    let known = rows.reading(profile.reading())?;
    let is_first_reading =
        |known: &ReadingRecord| *from == CameFrom::ReadHere && known.from != CameFrom::ReadHere;
    let mut profile = Cow::Borrowed(profile);
    let mut beside = Beside::of(interned)?;
    match &known {
        Some(known) if is_first_reading(known) && known.profile == id => {
            // What is known of it beside its content is not lost.
            let record = profile_record(rows, id)?;
            beside = together(rows, id, &record, interned, beside)?;
            if beside.kept.is_none() {
                beside.kept = kept::packed(rows, record.number)?;
            }
            let mut of_run = record.profile.metrics;
            of_run.extend(profile.metrics.clone());
            profile.to_mut().metrics = of_run;
        }
        Some(known) if is_first_reading(known) => {}
        // What was read here, only names found here replace.
        Some(known)
            if known.profile != id
                && replaced.contains(&known.profile)
                && (known.from != CameFrom::ReadHere || *from == CameFrom::ReadHere) => {}
        Some(known) if *from == CameFrom::ReadHere => {
            // Calls are of nodes by their indices in its tree.
            if known.profile != id {
                (beside.calls, beside.kept, beside.addresses) = (None, None, None);
            }
            return give(rows, known.profile, interned, beside);
        }
        Some(known) if known.profile == id => {
            return Ok((Put::Added(Added::AlreadyStored(id)), None));
        }
        Some(known) => return Ok((Put::OtherReading(known.clone()), None)),
        None => {}
    }
    let gone = known.as_ref().map(|known| known.profile);
    let mut new = write::plan(rows, id, build, &profile, (interned, beside), (gone, from))?;
    for replaced in replaced.iter().filter(|&&replaced| replaced != id) {
        new.record(Record::Replaced, replaced.0, &id)?;
    }
    if gone == Some(id) {
        return Ok((Put::Added(Added::AlreadyStored(id)), Some(new)));
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
    Ok((Put::Added(added), Some(new)))
}

/// Gives metrics and calls over time to a profile that was read here before.
fn give(
    rows: &Rows,
    id: ProfileId,
    interned: &Interned,
    beside: Beside,
) -> Result<(Put, Option<NewRows>), InternalError> {
    let mut record = profile_record(rows, id)?;
    let mut before = Beside::read(rows, record.number)?;
    let mut all = together(rows, id, &record, interned, beside)?;
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
    // These are of the reading that is stored.
    (all.sources, before.sources) = (None, None);
    if all.is_same(&Beside::default()) && all.addresses.is_none() && kept.is_none() {
        return Ok((Put::Added(Added::AlreadyStored(id)), None));
    }
    let mut new = NewRows::after(rows.contents);
    for (column, _) in before.columns(record.number) {
        new.remove_column(column);
        let gone = rows.stored_column(column)?.len() as u64;
        record.columns = record.columns.saturating_sub(gone);
    }
    for (column, pack) in all.columns(record.number) {
        new.contents.history = after(new.contents.history, &pack);
        record.columns += new.column(column, pack);
    }
    if let Some(kept) = kept {
        new.contents.history = after(new.contents.history, b"calls kept");
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
    Ok((Put::Added(given), Some(new)))
}

/// What was known of a profile with this record, and what is said now.
fn together(
    rows: &Rows,
    id: ProfileId,
    record: &ProfileRecord,
    interned: &Interned,
    now: Beside,
) -> Result<Beside, InternalError> {
    let known = Beside::read(rows, record.number)?;
    let metrics = match &interned.metrics {
        None => known.metrics,
        Some(metrics) => match of_record(rows, id, record)? {
            None => now.metrics,
            Some(known) => {
                let all = known.with(metrics);
                check(&all)?;
                Some(pack_metrics(&all).map_err(refused)?)
            }
        },
    };
    Ok(Beside {
        metrics,
        calls: now.calls.or(known.calls),
        kept: now.kept,
        sources: now.sources.or(known.sources),
        addresses: known.addresses.or(now.addresses),
    })
}
