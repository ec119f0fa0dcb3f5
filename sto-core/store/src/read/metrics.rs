//! Metrics over time: their rules, and loading them.

use crate::codec::{ProfileRecord, claimed_by_metrics, unpack_metrics};
use crate::error::{InternalError, Result};
use crate::read::rows::{Rows, record_location};
use crate::tables::{Column, Record};
use sto_model::RunMetrics;
use sto_model::id::ProfileId;
use sto_model::limits::{MAX_METRIC_VALUES, MAX_METRICS};
use sto_model::memory;
use sto_model::units::Bytes;

/// Checks the rules that the types do not enforce.
pub(crate) fn check(run: &RunMetrics) -> Result<()> {
    let names = || run.series.iter().map(|series| series.name());
    let rules = [
        (run.first <= run.last, "its last sample is before its first"),
        (
            names().is_sorted_by(|a, b| a < b),
            "its metrics over time are out of order, or two have the same name",
        ),
        (
            run.series.len() <= MAX_METRICS && run.value_count() <= MAX_METRIC_VALUES,
            "it has more than 65536 metrics over time, or more than 2^26 values in them",
        ),
    ];
    match rules.iter().find(|(kept, _)| !kept) {
        Some((_, why)) => Err(InternalError::Refused(why)),
        None => Ok(()),
    }
}

/// The metrics over time of a profile with this record, if it has any.
pub(crate) fn load(
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

/// Checks that a profile's columns have the size in its record. Otherwise a lost optional column would go unnoticed.
pub(crate) fn check_size(rows: &Rows, id: ProfileId, record: &ProfileRecord) -> Result<()> {
    if rows.own_bytes(record.number)? != record.columns {
        let location = record_location(Record::Profile, id.0);
        let what = "its columns differ in size from its record";
        return Err(InternalError::damaged(location, what));
    }
    Ok(())
}

/// Unpacks metrics over time; errors name the location `at`.
pub(crate) fn unpacked(pack: &[u8], at: impl ToString + Copy) -> Result<RunMetrics> {
    let claimed = claimed_by_metrics(pack).map_err(|error| error.at(at))?;
    memory::check_limit(Bytes(claimed))?;
    unpack_metrics(pack).map_err(|error| error.at(at))
}
