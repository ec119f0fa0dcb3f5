//! Metrics over time: what they must keep to go in, and how they come out.

use crate::codec::{ProfileRecord, claimed_by_metrics, unpack_metrics};
use crate::error::{InternalError, Result};
use crate::read::rows::{Rows, record_location};
use crate::tables::{Column, Record};
use sto_model::RunMetrics;
use sto_model::id::ProfileId;
use sto_model::limits::{MAX_METRICS, MAX_POINTS};
use sto_model::memory;
use sto_model::units::Bytes;

/// Checks what the types of a profile's metrics leave open.
pub(crate) fn check(run: &RunMetrics) -> Result<()> {
    let names = || run.series.iter().map(|series| series.name());
    let rules = [
        (run.first <= run.last, "its last sample is before its first"),
        (
            names().is_sorted_by(|a, b| a < b),
            "its metrics over time are out of order, or two have one name",
        ),
        (
            run.series.len() <= MAX_METRICS && run.points() <= MAX_POINTS,
            "it has more than 65536 metrics over time, or 2^26 values of them",
        ),
    ];
    match rules.iter().find(|(kept, _)| !kept) {
        Some((_, why)) => Err(InternalError::Refused(why)),
        None => Ok(()),
    }
}

/// The metrics over time of a profile with this record, where it has any.
pub(crate) fn of_record(
    rows: &Rows,
    id: ProfileId,
    record: &ProfileRecord,
) -> Result<Option<RunMetrics>> {
    let column = Column::Metrics(record.number);
    if let Some(pack) = rows.optional_column(column)? {
        return unpacked(&pack, column).map(Some);
    }
    check_size(rows, id, record).map(|()| None)
}

/// Checks that what a profile does not seem to have is not gone: nothing but its size says that there should be any.
pub(crate) fn check_size(rows: &Rows, id: ProfileId, record: &ProfileRecord) -> Result<()> {
    if rows.own_bytes(record.number)? != record.columns {
        let location = record_location(Record::Profile, id.0);
        let what = "its columns have not the size that it says";
        return Err(InternalError::damaged(location, what));
    }
    Ok(())
}

/// Metrics over time, unpacked; errors name where they stand.
pub(crate) fn unpacked(pack: &[u8], at: impl ToString + Copy) -> Result<RunMetrics> {
    let claimed = claimed_by_metrics(pack).map_err(|error| error.at(at))?;
    memory::check(Bytes(claimed))?;
    unpack_metrics(pack).map_err(|error| error.at(at))
}
