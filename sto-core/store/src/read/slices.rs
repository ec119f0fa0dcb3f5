//! Costs by context and slice of time: their rules, and loading them.

use crate::codec::{
    DecodeError, ProfileRecord, is_consistent, unpack_slices, unpack_slices_contexts,
};
use crate::error::{InternalError, Result};
use crate::read::builds;
use crate::read::rows::Rows;
use crate::tables::Column;
use crate::{Loaded, LoadedSlices};
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::tree::{ProfileData, SampleContext, TimeSlices, distinct_label_sets};

/// Checks the rules that the types do not enforce.
pub(crate) fn check(slices: &TimeSlices, interned: &ProfileData) -> Result<()> {
    let TimeSlices {
        grid,
        contexts,
        costs,
    } = slices;
    let all = || costs.iter().flat_map(|costs| costs.iter());
    let rules = [
        (
            costs.len() == interned.costs.len(),
            "its slices do not have one column per sample type",
        ),
        (
            contexts.is_sorted_by(|a, b| a < b),
            "its contexts are out of order",
        ),
        (
            distinct_label_sets(contexts).all(|set| set.is_sorted_by(|a, b| a < b)),
            "labels of a context are out of order",
        ),
        (
            costs.iter().all(|costs| {
                let keys = costs
                    .iter()
                    .map(|cost| (cost.context, cost.slice, cost.node));
                keys.is_sorted_by(|a, b| a < b)
            }),
            "its slices are out of order",
        ),
        (
            all().all(|cost| {
                (cost.context.0 as usize) < contexts.len() && cost.slice.0 < grid.count().get()
            }),
            "a slice or its context does not exist",
        ),
        (
            costs
                .iter()
                .zip(&interned.costs)
                .all(|(slices, costs)| is_consistent(slices, costs)),
            "its slices do not add up to its costs",
        ),
    ];
    match rules.iter().find(|(kept, _)| !kept) {
        Some((_, why)) => Err(InternalError::Refused(why)),
        None => Ok(()),
    }
}

/// Loads the slices of a profile, if it has any.
pub(crate) fn load(rows: &Rows, id: ProfileId) -> Result<Option<LoadedSlices>> {
    let record = builds::profile_record(rows, id)?;
    if record.slices == 0 {
        return Ok(None);
    }
    let executable = ExecutableId::from_name(&builds::build_of(rows, &record)?.executable);
    let Loaded {
        frames,
        tree,
        costs,
    } = builds::load(rows, executable, &[id])?;
    let slices = unpacked(rows, &record, |pack| unpack_slices(pack, &costs[0]))?;
    Ok(Some(LoadedSlices {
        frames,
        tree,
        slices,
    }))
}

/// Loads the contexts of a profile's slices, if it has any.
pub(crate) fn contexts(rows: &Rows, id: ProfileId) -> Result<Option<Vec<SampleContext>>> {
    let record = builds::profile_record(rows, id)?;
    if record.slices == 0 {
        return Ok(None);
    }
    unpacked(rows, &record, unpack_slices_contexts).map(Some)
}

fn unpacked<T>(
    rows: &Rows,
    record: &ProfileRecord,
    unpack: impl FnOnce(&[u8]) -> Result<T, DecodeError>,
) -> Result<T> {
    let column = Column::Slices(record.number);
    unpack(&rows.column(column)?).map_err(|error| error.at(column))
}
