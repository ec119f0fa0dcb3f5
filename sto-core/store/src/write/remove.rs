//! Removes profiles in place: deletes their records and columns and recomputes their builds. Stacks, frames
//! and module lists stay until the store is rewritten.

use super::{BuildTotals, next_history};
use crate::codec::{BuildRecord, ExecutableRecord, ProfileRecord};
use crate::error::{InternalError, Result};
use crate::numbers::NodeNo;
use crate::read::counts::read_all_costs;
use crate::read::rows::{NewRows, RecordWithLocation, Rows};
use crate::tables::{Column, Record};
use std::collections::{BTreeMap, BTreeSet};
use sto_model::Build;
use sto_model::id::{BuildId, ExecutableId, ProfileId};

/// The profiles to remove, and the remaining profiles of their builds, in ascending order of numbers.
pub(crate) struct Removal {
    gone: Vec<(ProfileId, ProfileRecord)>,
    left: BTreeMap<BuildId, Vec<(ProfileId, ProfileRecord)>>,
    /// The profiles that the removed ones had replaced.
    replaced: Vec<ProfileId>,
}

impl Removal {
    /// Finds the profiles to remove; ignores ids that are not in the store.
    pub(crate) fn new(rows: &Rows, ids: &BTreeSet<ProfileId>) -> Result<Self> {
        let profiles: Vec<RecordWithLocation<ProfileRecord>> = rows.records(Record::Profile)?;
        let profiles = profiles.into_iter();
        let mut profiles: Vec<_> = profiles.map(|p| (ProfileId(p.id), p.record)).collect();
        profiles.sort_by_key(|(_, record)| record.number);
        let (gone, kept): (Vec<_>, Vec<_>) =
            profiles.into_iter().partition(|(id, _)| ids.contains(id));
        let builds = gone.iter().map(|(_, record)| record.profile.build);
        let mut left: BTreeMap<BuildId, Vec<_>> = builds.map(|id| (id, Vec::new())).collect();
        for (id, record) in kept {
            if let Some(left) = left.get_mut(&record.profile.build) {
                left.push((id, record));
            }
        }
        let replaced = rows.replaced()?.into_iter();
        let replaced = replaced.filter(|(by, _)| ids.contains(by));
        Ok(Removal {
            gone,
            left,
            replaced: replaced.flat_map(|(_, replaced)| replaced).collect(),
        })
    }

    /// Removes everything; returns the builds without remaining profiles.
    pub(crate) fn write(&self, rows: &Rows, new: &mut NewRows) -> Result<BTreeSet<BuildId>> {
        self.write_profiles(new);
        let mut empty = BTreeSet::new();
        for (&id, left) in &self.left {
            let record: Option<BuildRecord> = rows.record(Record::Build, id.0)?;
            let record = record.ok_or_else(|| {
                InternalError::damaged("table records", "a profile's build does not exist")
            })?;
            if left.is_empty() {
                remove_sums(new, &record);
                new.remove_record(Record::Build, id.0);
                new.contents.builds = new.contents.builds.saturating_sub(1);
                empty.insert(id);
            } else {
                self.rebuild_without(rows, new, record)?.write(new)?;
            }
        }
        Ok(empty)
    }

    /// Removes the profiles' own records and columns.
    pub(crate) fn write_profiles(&self, new: &mut NewRows) {
        for (id, record) in &self.gone {
            new.remove_columns_of(record.number);
            new.remove_record(Record::Profile, id.0);
            new.remove_record(Record::Reading, record.profile.build_recording_id().0);
            new.contents.profiles = new.contents.profiles.saturating_sub(1);
            new.contents.history = next_history(new.contents.history, &id.0);
        }
        for replaced in &self.replaced {
            new.remove_record(Record::Replaced, replaced.0);
        }
        new.contents.history = next_history(new.contents.history, b"profiles removed");
    }

    /// Recomputes a build from its remaining profiles.
    pub(crate) fn rebuild_without(
        &self,
        rows: &Rows,
        new: &mut NewRows,
        record: BuildRecord,
    ) -> Result<BuildTotals> {
        remove_sums(new, &record);
        let id = ExecutableId::from_name(&record.executable);
        let executable: Option<ExecutableRecord> = rows.record(Record::Executable, id.0)?;
        let nodes_end = executable.map_or(NodeNo(0), |executable| executable.nodes);
        let build = record.build();
        let mut tally = BuildTotals::without_profiles(record);
        for (id, record) in self.left.get(&build.id()).into_iter().flatten() {
            let known = Build {
                gnu_build_id: record.gnu_build_id.clone(),
                revision: record.revision.clone(),
                ..build.clone()
            };
            let costs = read_all_costs(rows, record, nodes_end)?;
            tally.add(*id, &known, &record.profile, record.number, &costs)?;
        }
        Ok(tally)
    }
}

fn remove_sums(new: &mut NewRows, record: &BuildRecord) {
    for (at, sum) in record.types().zip(&record.sums) {
        if sum.has_column {
            new.remove_column(Column::Sums(record.number, at));
        }
    }
}
