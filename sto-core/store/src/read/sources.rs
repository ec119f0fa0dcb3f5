//! Digests of source files.

use crate::codec::{ProfileRecord, unpack_sources};
use crate::error::Result;
use crate::read::metrics::check_size;
use crate::read::rows::Rows;
use crate::tables::Column;
use sto_model::SourceFileDigests;
use sto_model::id::ProfileId;

/// The source digests of a profile with this record; empty if it has none.
pub(crate) fn load(
    rows: &Rows,
    id: ProfileId,
    record: &ProfileRecord,
) -> Result<SourceFileDigests> {
    let column = Column::Sources(record.number);
    match rows.optional_column(column)? {
        Some(pack) => unpack_sources(&pack).map_err(|error| error.at(column)),
        None => check_size(rows, id, record).map(|()| SourceFileDigests::new()),
    }
}
