//! Adding a profile: what was read here counts, and what another store claims does not get in its way.

use crate::id::ProfileId;
use crate::intern::Interned;
use crate::model::{Build, Profile, RunMetrics};
use crate::store::codec::{ReadingRecord, pack_metrics};
use crate::store::error::{InternalError, refused};
use crate::store::file::access::begin;
use crate::store::read::builds::profile_record;
use crate::store::read::metrics::{check, of_record};
use crate::store::read::rows::{NewRows, Rows};
use crate::store::tables::{Column, Record};
use crate::store::write::after;
use crate::store::{Added, CameFrom, StoreError, Writer, write};
use crate::units::Bytes;
use redb::ReadableDatabase;
use std::borrow::Cow;

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
    /// profile has now; only [metrics over time](RunMetrics) go in then, too, in place of such of the same name.
    /// Where it came from another store by [`Store::merge`](crate::store::Store::merge), this one replaces it.
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
        match self.put(id, build, profile, interned, CameFrom::ReadHere)? {
            Put::Added(added) => Ok(added),
            Put::OtherReading(known) => Ok(Added::AlreadyStored(known.profile)),
        }
    }

    /// Adds a profile with this content address, which keeps the rules of its types.
    pub(crate) fn put(
        &mut self,
        id: ProfileId,
        build: &Build,
        profile: &Profile,
        interned: &Interned,
        from: CameFrom,
    ) -> Result<Put, StoreError> {
        let plan = |rows: &Rows| plan(rows, id, build, profile, interned, &from);
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
    from: &CameFrom,
) -> Result<(Put, Option<NewRows>), InternalError> {
    let known = rows.reading(profile.reading())?;
    let is_first_reading =
        |known: &ReadingRecord| *from == CameFrom::ReadHere && known.from != CameFrom::ReadHere;
    let mut profile = Cow::Borrowed(profile);
    let mut metrics = interned.metrics.as_ref().map(Cow::Borrowed);
    match &known {
        Some(known) if is_first_reading(known) && known.profile == id => {
            // What is known of it beside its content is not lost.
            let record = profile_record(rows, id)?;
            metrics = together(of_record(rows, id, &record)?, metrics);
            let mut of_run = record.profile.metrics;
            of_run.extend(profile.metrics.clone());
            profile.to_mut().metrics = of_run;
        }
        Some(known) if is_first_reading(known) => {}
        Some(known) if *from == CameFrom::ReadHere => return give(rows, known.profile, metrics),
        Some(known) if known.profile == id => {
            return Ok((Put::Added(Added::AlreadyStored(id)), None));
        }
        Some(known) => return Ok((Put::OtherReading(known.clone()), None)),
        None => {}
    }
    let gone = known.as_ref().map(|known| known.profile);
    let interned = (interned, metrics.as_deref());
    let new = write::plan(rows, id, build, &profile, interned, (gone, from))?;
    if gone == Some(id) {
        return Ok((Put::Added(Added::AlreadyStored(id)), Some(new)));
    }
    let instead_of = known.map(|known| (known.profile, known.from));
    let added = Added::New {
        id,
        stored: Bytes(new.bytes()),
        slices: Bytes(new.bytes_of(|column| matches!(column, Column::Slices(_)))),
        metrics: Bytes(new.bytes_of(|column| matches!(column, Column::Metrics(_)))),
        instead_of,
    };
    Ok((Put::Added(added), Some(new)))
}

/// Gives metrics over time to a profile that was read here before.
fn give(
    rows: &Rows,
    id: ProfileId,
    metrics: Option<Cow<'_, RunMetrics>>,
) -> Result<(Put, Option<NewRows>), InternalError> {
    let mut record = profile_record(rows, id)?;
    let before = of_record(rows, id, &record)?;
    let all = metrics.and_then(|metrics| together(before.clone(), Some(metrics)));
    let Some(metrics) = all.filter(|all| before.as_ref() != Some(all)) else {
        return Ok((Put::Added(Added::AlreadyStored(id)), None));
    };
    check(&metrics)?;
    let column = Column::Metrics(record.number);
    let mut new = NewRows::after(rows.contents);
    if before.is_some() {
        new.remove_column(column);
        let gone = rows.stored_column(column)?.len() as u64;
        record.columns = record.columns.saturating_sub(gone);
    }
    let pack = pack_metrics(&metrics).map_err(refused)?;
    new.contents.history = after(new.contents.history, &pack);
    let bytes = new.column(column, pack);
    record.columns += bytes;
    new.record(Record::Profile, id.0, &record)?;
    let metrics = Bytes(bytes);
    Ok((Put::Added(Added::GivenMetrics { id, metrics }), Some(new)))
}

/// What was known, and what is said now.
fn together<'a>(
    known: Option<RunMetrics>,
    now: Option<Cow<'a, RunMetrics>>,
) -> Option<Cow<'a, RunMetrics>> {
    match (known, now) {
        (Some(known), Some(now)) => Some(Cow::Owned(known.with(&now))),
        (known, now) => now.or(known.map(Cow::Owned)),
    }
}
