//! Digests of source files.

use crate::id::ProfileId;
use crate::model::SourceDigests;
use crate::store::codec::{ProfileRecord, unpack_sources};
use crate::store::error::Result;
use crate::store::read::metrics::check_size;
use crate::store::read::rows::Rows;
use crate::store::tables::Column;

/// Those of a profile with this record; none where it has none.
pub(crate) fn of_record(
    rows: &Rows,
    id: ProfileId,
    record: &ProfileRecord,
) -> Result<SourceDigests> {
    let column = Column::Sources(record.number);
    if !rows.has_column(column)? {
        return check_size(rows, id, record).map(|()| SourceDigests::new());
    }
    unpack_sources(&rows.column(column)?).map_err(|error| error.at(column))
}
