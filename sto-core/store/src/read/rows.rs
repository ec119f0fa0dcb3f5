//! Reads and writes whole records and columns: adds checksums and cuts columns into segments.

use crate::codec::{self, CHECKSUM_LEN, Contents, ReadingRecord, with_checksum, without_checksum};
use crate::error::{InternalError, Result, packing_error, spool_error};
use crate::numbers::ProfileNo;
use crate::tables::{
    COLUMNS, Column, ColumnKey, ENDS, FORMAT_VERSION, META, META_CONTENTS, META_FEATURES,
    META_VERSION, RECORDS, Record, RecordKey, SEGMENT, SegmentKey,
};
use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use sto_model::id::{BuildRecordingId, ProfileId};
use sto_model::trace::PackedCalls;

/// The tables in a read transaction.
pub(crate) struct Rows {
    meta: ReadOnlyTable<&'static str, &'static [u8]>,
    records: ReadOnlyTable<RecordKey, &'static [u8]>,
    columns: ReadOnlyTable<SegmentKey, &'static [u8]>,
    ends: ReadOnlyTable<ColumnKey, &'static [u8]>,
    pub(crate) contents: Contents,
}

/// Records and columns to be written together, and the store's contents after that.
#[derive(Default)]
pub(crate) struct NewRows {
    records: Vec<(RecordKey, Vec<u8>)>,
    columns: Vec<(Column, Vec<u8>)>,
    /// Keys of columns to be replaced or removed.
    removed: Vec<RangeInclusive<ColumnKey>>,
    removed_records: Vec<RecordKey>,
    /// Kept calls of profiles; they need not fit in memory.
    kept: Vec<(ProfileNo, Arc<PackedCalls>)>,
    bytes: u64,
    pub(crate) contents: Contents,
}

impl NewRows {
    /// No changes yet to a store with these contents.
    pub(crate) fn new(contents: Contents) -> Self {
        NewRows {
            contents,
            ..NewRows::default()
        }
    }

    /// Adds a record.
    pub(crate) fn record(
        &mut self,
        kind: Record,
        id: [u8; 16],
        record: &impl Serialize,
    ) -> Result<()> {
        let body = codec::pack(record).map_err(packing_error)?;
        let stored = with_checksum(&record_key(kind, id), body);
        self.bytes += stored.len() as u64;
        self.records.push(((kind as u8, id), stored));
        Ok(())
    }

    /// Adds a column; returns its size including the checksum.
    pub(crate) fn column(&mut self, column: Column, body: Vec<u8>) -> u64 {
        let stored = with_checksum(&checksum_key(column), body);
        let len = stored.len() as u64;
        self.bytes += len;
        self.columns.push((column, stored));
        len
    }

    /// Removes a column before new ones are written.
    pub(crate) fn remove_column(&mut self, column: Column) {
        self.removed.push(column.key()..=column.key());
    }

    /// Removes all columns of a profile before new ones are written.
    pub(crate) fn remove_columns_of(&mut self, profile: ProfileNo) {
        let all = Column::first_of(profile).map(Column::all_parts);
        self.removed.extend(all);
    }

    /// Adds all calls of a profile; returns their size including checksums.
    pub(crate) fn kept_calls(&mut self, profile: ProfileNo, kept: Arc<PackedCalls>) -> u64 {
        let len = kept.bytes() + u64::from(kept.pack_count()) * CHECKSUM_LEN as u64;
        self.bytes += len;
        self.kept.push((profile, kept));
        len
    }

    /// Removes a record before new ones are written.
    pub(crate) fn remove_record(&mut self, kind: Record, id: [u8; 16]) {
        self.removed_records.push((kind as u8, id));
    }

    /// Packed bytes of the columns of a kind.
    pub(crate) fn bytes_of(&self, is_of_kind: impl Fn(Column) -> bool) -> u64 {
        let columns = self.columns.iter();
        let of_kind = columns.filter(|(column, _)| is_of_kind(*column));
        of_kind.map(|(_, stored)| stored.len() as u64).sum()
    }

    /// Packed bytes of kept calls.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.kept.iter().map(|(_, kept)| kept.bytes()).sum()
    }

    /// Packed bytes of all additions.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes everything to the tables.
    pub(crate) fn write(&self, transaction: &WriteTransaction) -> Result<()> {
        let mut records = transaction.open_table(RECORDS)?;
        for key in &self.removed_records {
            records.remove(key)?;
        }
        for (key, stored) in &self.records {
            records.insert(key, stored.as_slice())?;
        }
        let mut columns = transaction.open_table(COLUMNS)?;
        let mut ends = transaction.open_table(ENDS)?;
        for keys in &self.removed {
            columns.retain_in(segments_of(keys), |_, _| false)?;
            ends.retain_in(keys.clone(), |_, _| false)?;
        }
        let mut insert = |column: Column, stored: &[u8]| -> Result<()> {
            let (kind, owner, part) = column.key();
            for (segment, bytes) in (0..).zip(stored.chunks_exact(SEGMENT)) {
                columns.insert((kind, owner, part, segment), bytes)?;
            }
            Ok(())
        };
        for (column, stored) in &self.columns {
            insert(*column, stored)?;
        }
        for (profile, kept) in &self.kept {
            for part in 0..kept.pack_count() {
                let column = Column::CallTrees(*profile, part);
                let pack = kept.pack(part).map_err(spool_error)?;
                let stored = with_checksum(&checksum_key(column), pack);
                insert(column, &stored)?;
                ends.insert(column.key(), stored.chunks_exact(SEGMENT).remainder())?;
            }
        }
        let mut in_order: Vec<_> = self.columns.iter().collect();
        in_order.sort_unstable_by_key(|&(column, _)| column.key());
        // redb splits a full page in half, and ascending insertion fills only the last one. So every
        // second end is inserted later, into the halves.
        let (sooner, later) = (
            in_order.iter().step_by(2),
            in_order.iter().skip(1).step_by(2),
        );
        for (column, stored) in sooner.chain(later) {
            ends.insert(column.key(), stored.chunks_exact(SEGMENT).remainder())?;
        }
        let body = codec::pack(&self.contents).map_err(packing_error)?;
        let stored = with_checksum(META_CONTENTS.as_bytes(), body);
        let mut meta = transaction.open_table(META)?;
        meta.insert(META_CONTENTS, stored.as_slice())?;
        Ok(())
    }
}

/// Creates the tables of an empty store.
pub(crate) fn create(transaction: &WriteTransaction) -> Result<()> {
    transaction
        .open_table(META)?
        .insert(META_VERSION, FORMAT_VERSION.to_le_bytes().as_slice())?;
    NewRows::default().write(transaction)
}

/// Checks the format version and features, then reads the store's contents.
fn contents(meta: &ReadOnlyTable<&'static str, &'static [u8]>) -> Result<Contents> {
    let missing = |what| InternalError::damaged("table meta", what);
    let version = meta
        .get(META_VERSION)?
        .and_then(|version| version.value().try_into().map(u32::from_le_bytes).ok())
        .ok_or_else(|| missing("it has no version"))?;
    if version != FORMAT_VERSION {
        return Err(InternalError::Newer(format!(
            "format version {version}, but this sto reads version {FORMAT_VERSION}"
        )));
    }
    if let Some(names) = meta_value::<Vec<String>>(meta, META_FEATURES)? {
        let names = names.join(", ");
        return Err(InternalError::Newer(format!("unknown features: {names}")));
    }
    meta_value(meta, META_CONTENTS)?.ok_or_else(|| missing("it has no contents"))
}

/// The value under a key of the meta table, if any.
fn meta_value<T: for<'de> Deserialize<'de>>(
    meta: &ReadOnlyTable<&'static str, &'static [u8]>,
    key: &str,
) -> Result<Option<T>> {
    let stored = meta.get(key)?;
    let value = stored.map(|stored| {
        without_checksum(key.as_bytes(), stored.value())
            .and_then(codec::unpack)
            .map_err(|error| error.at(format!("table meta, {key}")))
    });
    value.transpose()
}

/// A redb file without the meta table belongs to another program.
fn not_ours(error: redb::TableError) -> InternalError {
    match error {
        redb::TableError::TableDoesNotExist(_) | redb::TableError::TableTypeMismatch { .. } => {
            InternalError::NotOurs
        }
        error => error.into(),
    }
}

/// The bytes that a record's checksum covers besides its body.
pub(crate) fn record_key(kind: Record, id: [u8; 16]) -> Vec<u8> {
    let mut key = vec![b'R', kind as u8];
    key.extend(id);
    key
}

fn checksum_key(column: Column) -> Vec<u8> {
    let (kind, owner, part) = column.key();
    let mut key = vec![b'C', kind];
    key.extend(owner.to_le_bytes());
    key.extend(part.to_le_bytes());
    key
}

impl Rows {
    pub(crate) fn open(transaction: &ReadTransaction) -> Result<Self> {
        let meta = transaction.open_table(META).map_err(not_ours)?;
        Ok(Rows {
            contents: contents(&meta)?,
            meta,
            records: transaction.open_table(RECORDS)?,
            columns: transaction.open_table(COLUMNS)?,
            ends: transaction.open_table(ENDS)?,
        })
    }

    /// The profile of a reading and its origin.
    pub(crate) fn reading(&self, reading: BuildRecordingId) -> Result<Option<ReadingRecord>> {
        self.record(Record::Reading, reading.0)
    }

    /// The profiles that were replaced, by the profile that replaced them.
    pub(crate) fn replaced(&self) -> Result<BTreeMap<ProfileId, Vec<ProfileId>>> {
        let mut replaced: BTreeMap<ProfileId, Vec<ProfileId>> = BTreeMap::new();
        for RecordWithLocation { id, record, .. } in self.records(Record::Replaced)? {
            replaced.entry(record).or_default().push(ProfileId(id));
        }
        Ok(replaced)
    }

    /// Whether a record exists, readable or not.
    pub(crate) fn has_record(&self, kind: Record, id: [u8; 16]) -> Result<bool> {
        Ok(self.records.get((kind as u8, id))?.is_some())
    }

    /// The value under a key of the meta table, if any.
    pub(crate) fn meta<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Result<Option<T>> {
        meta_value(&self.meta, key)
    }

    /// Reads a record.
    pub(crate) fn record<T: for<'de> Deserialize<'de>>(
        &self,
        kind: Record,
        id: [u8; 16],
    ) -> Result<Option<T>> {
        let stored = self.records.get((kind as u8, id))?;
        stored
            .map(|stored| read_record(kind, id, stored.value()))
            .transpose()
    }

    /// The ids of all records of a kind, in ascending order.
    pub(crate) fn ids(&self, kind: Record) -> Result<Vec<[u8; 16]>> {
        let mut ids = Vec::new();
        let of_kind = self.records.range(records_of(kind))?;
        each(of_kind, "table records", |(_, id), _| ids.push(id))?;
        Ok(ids)
    }

    /// All records of a kind, in ascending order of their ids.
    pub(crate) fn records<T: for<'de> Deserialize<'de>>(
        &self,
        kind: Record,
    ) -> Result<Vec<RecordWithLocation<T>>> {
        let mut records: Vec<Result<RecordWithLocation<T>>> = Vec::new();
        let of_kind = self.records.range(records_of(kind))?;
        each(of_kind, "table records", |(_, id), stored| {
            let bytes = stored.len() as u64;
            let record = read_record(kind, id, stored);
            records.push(record.map(|record| RecordWithLocation { id, bytes, record }));
        })?;
        records.into_iter().collect()
    }

    /// Visits every entry of the meta table.
    pub(crate) fn each_meta(&self, mut see: impl FnMut(&str, &[u8])) -> Result<()> {
        for entry in self.meta.iter()? {
            let (key, value) = entry?;
            see(key.value(), value.value());
        }
        Ok(())
    }

    /// Visits every entry of the table of records, in key order.
    pub(crate) fn each_record(&self, see: impl FnMut(RecordKey, &[u8])) -> Result<()> {
        each(self.records.iter()?, "table records", see)
    }

    /// Visits every entry of the table of columns, in key order.
    pub(crate) fn each_segment(&self, see: impl FnMut(SegmentKey, &[u8])) -> Result<()> {
        each(self.columns.iter()?, "table columns", see)
    }

    /// Visits every entry of the table of ends, in key order.
    pub(crate) fn each_end(&self, see: impl FnMut(ColumnKey, &[u8])) -> Result<()> {
        each(self.ends.iter()?, "table ends", see)
    }

    /// Whether an optional column exists.
    pub(crate) fn has_column(&self, column: Column) -> Result<bool> {
        Ok(self.ends.get(column.key())?.is_some())
    }

    /// The size of the columns that a profile owns, bodies and checksums.
    pub(crate) fn own_bytes(&self, profile: ProfileNo) -> Result<u64> {
        let mut bytes = 0;
        for keys in Column::first_of(profile).map(Column::all_parts) {
            for entry in self.columns.range(segments_of(&keys))? {
                bytes += entry?.1.value().len() as u64;
            }
            for entry in self.ends.range(keys)? {
                bytes += entry?.1.value().len() as u64;
            }
        }
        Ok(bytes)
    }

    /// Reads the body of an optional column.
    pub(crate) fn optional_column(&self, column: Column) -> Result<Option<Vec<u8>>> {
        let is_there = self.has_column(column)?;
        is_there.then(|| self.column(column)).transpose()
    }

    /// Reads the body of a column and verifies its checksum.
    pub(crate) fn column(&self, column: Column) -> Result<Vec<u8>> {
        let mut stored = self.stored_column(column)?;
        let body_len = open_column(column, &stored)?.len();
        stored.truncate(body_len);
        Ok(stored)
    }

    /// Reads a column with its checksum and joins its segments.
    pub(crate) fn stored_column(&self, column: Column) -> Result<Vec<u8>> {
        let missing = |what| InternalError::damaged(column, what);
        let end = self.ends.get(column.key())?;
        let end = end.ok_or_else(|| missing("it is missing"))?;
        let mut stored = Vec::new();
        for (entry, segment) in self
            .columns
            .range(segments_of(&(column.key()..=column.key())))?
            .zip(0..)
        {
            let (key, bytes) = entry?;
            if key.value().3 != segment {
                return Err(missing("a segment of it is missing"));
            }
            stored.extend_from_slice(bytes.value());
        }
        stored.extend_from_slice(end.value());
        Ok(stored)
    }
}

/// The key range of a kind's records.
fn records_of(kind: Record) -> RangeInclusive<RecordKey> {
    (kind as u8, [0; 16])..=(kind as u8, [0xff; 16])
}

/// The key range of the segments of columns.
fn segments_of(columns: &RangeInclusive<ColumnKey>) -> RangeInclusive<SegmentKey> {
    let ((kind, owner, first), (_, _, last)) = (*columns.start(), *columns.end());
    (kind, owner, first, 0)..=(kind, owner, last, u32::MAX)
}

/// Visits the entries of a table. Fails if keys do not ascend, because damaged pages that refer back to a page
/// above them would make the loop endless.
fn each<K>(
    entries: redb::Range<'_, K, &'static [u8]>,
    table: &str,
    mut see: impl FnMut(K, &[u8]),
) -> Result<()>
where
    K: for<'k> redb::Key<SelfType<'k> = K> + Ord + Copy,
{
    let mut last = None;
    for entry in entries {
        let (key, bytes) = entry?;
        let key = key.value();
        if last.replace(key).is_some_and(|last| last >= key) {
            return Err(InternalError::damaged(table, "its keys are out of order"));
        }
        see(key, bytes.value());
    }
    Ok(())
}

/// Verifies a stored column's checksum and returns its body.
pub(crate) fn open_column(column: Column, stored: &[u8]) -> Result<&[u8]> {
    without_checksum(&checksum_key(column), stored).map_err(|error| error.at(column))
}

/// A record from a list of all records of its kind.
pub(crate) struct RecordWithLocation<T> {
    pub(crate) id: [u8; 16],
    /// Packed size of the record.
    pub(crate) bytes: u64,
    pub(crate) record: T,
}

/// The location of a record in errors.
pub(crate) fn record_location(kind: Record, id: [u8; 16]) -> String {
    format!("table records, {} {}", kind.name(), ProfileId(id))
}

/// Decodes a record after verifying its checksum for this kind and id.
pub(crate) fn read_record<T: for<'de> Deserialize<'de>>(
    kind: Record,
    id: [u8; 16],
    stored: &[u8],
) -> Result<T> {
    without_checksum(&record_key(kind, id), stored)
        .and_then(codec::unpack)
        .map_err(|error| error.at(record_location(kind, id)))
}
