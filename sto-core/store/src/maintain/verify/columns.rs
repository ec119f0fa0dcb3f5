//! Checks that columns are complete and belong to something.

use super::corruptions::{Concerns, Corruptions};
use crate::codec::DecodeError;
use crate::guard::guarded;
use crate::numbers::Number;
use crate::read::rows::{Rows, open_column};
use crate::tables::{Column, ColumnKey, SEGMENT};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// All columns by key, including keys of unknown kinds.
pub(super) struct Columns {
    found: BTreeMap<ColumnKey, Found>,
    /// Whether the tables could be read to their ends.
    is_complete: bool,
}

#[derive(Default)]
struct Found {
    /// Size including the checksum.
    bytes: u64,
    segments: u32,
    has_end: bool,
    error: Option<DecodeError>,
    /// Whether a record refers to it.
    is_owned: bool,
}

const MISSING: DecodeError = DecodeError("a segment of it is missing");

impl Found {
    fn add(&mut self, bytes: &[u8], is_of_right_size: bool) {
        if !is_of_right_size {
            self.error = Some(DecodeError(
                "its segments do not have the size that they should",
            ));
        }
        self.bytes += bytes.len() as u64;
    }
}

impl Columns {
    /// Reads the keys and sizes of all columns.
    pub(super) fn read(rows: &Rows, damages: &mut Corruptions) -> Self {
        let mut found: BTreeMap<_, Found> = BTreeMap::new();
        let seen = guarded(|| {
            rows.each_segment(|(kind, owner, part, segment), bytes| {
                let column = found.entry((kind, owner, part)).or_default();
                if segment != column.segments {
                    column.error = Some(MISSING);
                }
                column.segments += 1;
                column.add(bytes, bytes.len() == SEGMENT);
            })?;
            rows.each_end(|key, bytes| {
                let column = found.entry(key).or_default();
                column.has_end = true;
                column.add(bytes, bytes.len() < SEGMENT);
            })
        });
        let is_complete = damages.record_error(seen, Concerns::Everything).is_some();
        for column in found.values_mut() {
            if !column.has_end && is_complete {
                column.error = Some(MISSING);
            }
        }
        Columns { found, is_complete }
    }

    pub(super) fn len(&self) -> u64 {
        self.found.len() as u64
    }

    /// Marks a column as belonging to something.
    pub(super) fn mark_used(&mut self, key: ColumnKey) {
        if let Some(found) = self.found.get_mut(&key) {
            found.is_owned = true;
        }
    }

    /// Marks the packs of all items below `end`. Returns for each pack its first item's number and that of the
    /// next pack.
    pub(super) fn mark_packs_used<N: Number>(
        &mut self,
        end: N,
        column: impl Fn(N) -> Column,
    ) -> Vec<(N, N)> {
        let keys = column(N::new(0)).key()..column(end).key();
        let packs = self.found.range_mut(keys);
        let firsts: Vec<N> = packs
            .map(|(&(_, _, first), found)| {
                found.is_owned = true;
                N::new(first)
            })
            .collect();
        let ends = firsts.iter().skip(1).copied().chain([end]);
        firsts.iter().copied().zip(ends).collect()
    }

    /// Reports segments that do not fit together and columns that no record refers to, after verifying the checksums
    /// of the latter.
    pub(super) fn leftovers(&self, rows: &Rows, damages: &mut Corruptions) {
        let found: Vec<Corruptions> = self
            .found
            .par_iter()
            .map(|(&key, found)| {
                let mut damages = Corruptions::default();
                let Some(column) = Column::from_key(key) else {
                    let (kind, owner, part) = key;
                    let location = format!("table columns, kind {kind} {owner}/{part}");
                    damages.add(
                        location,
                        "the kind of this column is unknown",
                        Concerns::Nothing,
                    );
                    return damages;
                };
                // Reading an owned column finds most of these errors, but not all.
                if let Some(DecodeError(what)) = found.error {
                    damages.add(column, what, Concerns::Nothing);
                } else if !found.is_owned {
                    let body = guarded(|| {
                        let stored = rows.stored_column(column)?;
                        open_column(column, &stored).map(drop)
                    });
                    damages.record_error(body, Concerns::Nothing);
                }
                if !found.is_owned && self.is_complete {
                    damages.add(column, "no record refers to it", Concerns::Nothing);
                }
                damages
            })
            .collect();
        found.into_iter().for_each(|more| damages.append(more));
    }
}
