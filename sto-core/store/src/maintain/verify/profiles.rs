//! Checks the columns of profiles and the sums of builds.

use super::columns::Columns;
use super::corruptions::{Concerns, Corruptions};
use super::records::{ByBuild, Records};
use crate::codec::{BuildRecord, ProfileRecord};
use crate::error::{InternalError, Result};
use crate::guard::guarded;
use crate::numbers::{NodeNo, TypeNo};
use crate::read::builds::module_list;
use crate::read::counts::{NodeCosts, read_costs};
use crate::read::cut::ExecutableTree;
use crate::read::kept::parts;
use crate::read::rows::{Rows, record_location};
use crate::tables::{Column, Record};
use crate::write::{self, CostAdder};
use hashbrown::HashSet;
use rayon::prelude::*;
use sto_model::Cancelled;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::units::Cost;
use sto_model::{Build, Profile};

/// An executable and its nodes.
pub(super) struct Tree<'a> {
    pub(super) id: ExecutableId,
    /// The stacks of its profiles, if they can be read.
    pub(super) stacks: Option<ExecutableTree<'a>>,
    /// The end of the node numbers, according to the executable's record.
    pub(super) nodes_end: NodeNo,
}

/// Checks all profiles of an executable and the sums of its builds. A few profiles at a time are
/// in memory.
pub(super) fn check(
    rows: &Rows,
    records: &Records,
    by_build: &ByBuild<'_>,
    tree: &Tree<'_>,
    columns: &mut Columns,
    damages: &mut Corruptions,
    progress: &mut dyn FnMut() -> Result<(), Cancelled>,
) -> Result<(), Cancelled> {
    let nodes_end = tree.nodes_end;
    let of_executable = |build: &BuildRecord| ExecutableId::from_name(&build.executable) == tree.id;
    for (build_id, build) in records.builds.iter().filter(|(_, b)| of_executable(b)) {
        let mut sums = Sums {
            rows,
            build,
            location: record_location(Record::Build, build_id.0),
            nodes_end,
            sums: build.sums.iter().map(|_| Adding::new()).collect(),
        };
        let profiles = by_build.get(build_id).map_or(&[][..], Vec::as_slice);
        for batch in profiles.chunks(2 * rayon::current_num_threads()) {
            progress()?;
            for (_, profile) in batch {
                for column in columns_of(rows, profile) {
                    columns.mark_used(column.key());
                }
            }
            let read = batch.par_iter().map(|&(id, profile)| {
                let mut damages = Corruptions::default();
                let concerns = || Concerns::Profiles { profiles: vec![id] };
                let costs = profile.types().map(|sample_type| {
                    let column = Column::Costs(profile.number, sample_type);
                    let costs = guarded(|| read_costs(rows, column, nodes_end));
                    damages.record_error(costs, concerns())
                });
                let costs: Vec<Option<NodeCosts>> = costs.collect();
                if let (Some(stacks), Some(costs)) = (&tree.stacks, costs.iter().cloned().collect())
                {
                    let whole = guarded(|| check_whole(rows, stacks, id, build, profile, costs));
                    damages.record_error(whole, concerns());
                } else {
                    for column in columns_of(rows, profile) {
                        let read = guarded(|| check_column(rows, column));
                        damages.record_error(read, concerns());
                    }
                }
                (costs, damages)
            });
            let read: Vec<_> = read.collect();
            for ((_, profile), (costs, more)) in batch.iter().zip(read) {
                damages.append(more);
                for (sample_type, costs) in profile.types().zip(costs) {
                    sums.add(profile, sample_type, costs, damages);
                }
            }
        }
        sums.finish(columns, damages);
    }
    Ok(())
}

/// The columns that a profile has or may have.
fn columns_of(rows: &Rows, profile: &ProfileRecord) -> Vec<Column> {
    // An error here is reported when the column is checked.
    let kept_parts = guarded(|| parts(rows, profile.number)).unwrap_or(1);
    let types = profile.types().count() as u32;
    let all_parts = Column::first_of(profile.number).flat_map(|first| {
        let parts = match first {
            Column::Costs(..) | Column::Lines(..) => types,
            Column::Slices(_) => u32::from(profile.slices > 0),
            Column::CallTrees(..) => kept_parts,
            Column::Metrics(_)
            | Column::Calls(_)
            | Column::Arguments(_)
            | Column::Sources(_)
            | Column::Addresses(_) => 1,
            Column::Frames(_) | Column::Nodes(..) | Column::Modules(_) | Column::Sums(..) => 0,
        };
        let (kind, owner, _) = first.key();
        (0..parts).filter_map(move |part| Column::from_key((kind, owner, part)))
    });
    all_parts.collect()
}

/// Checks that a column of a profile, whose costs were already read, is there if it must be, and its checksum.
fn check_column(rows: &Rows, column: Column) -> Result<()> {
    match column {
        Column::Costs(..) => Ok(()),
        Column::Lines(..) | Column::Slices(_) | Column::CallTrees(..) => {
            rows.column(column).map(drop)
        }
        _ => rows.optional_column(column).map(drop),
    }
}

/// Checks a profile as if it were merged into another store. Its costs were already read.
fn check_whole(
    rows: &Rows,
    stacks: &ExecutableTree<'_>,
    id: ProfileId,
    build: &BuildRecord,
    record: &ProfileRecord,
    costs: Vec<NodeCosts>,
) -> Result<()> {
    let interned = stacks.profile_with_costs(rows, id, record, costs)?;
    // An error here was already reported when module lists were checked.
    let Ok(modules) = module_list(rows, record.modules) else {
        return Ok(());
    };
    let build = Build {
        gnu_build_id: record.gnu_build_id.clone(),
        revision: record.revision.clone(),
        ..build.build()
    };
    let profile = Profile {
        modules,
        ..record.profile.clone()
    };
    write::check_stored(id, &build, &profile, &interned).map_err(|error| match error {
        InternalError::Refused(why) => {
            InternalError::damaged(record_location(Record::Profile, id.0), why)
        }
        error => error,
    })
}

/// Recomputes the sums of a build.
struct Sums<'a> {
    rows: &'a Rows,
    build: &'a BuildRecord,
    /// The location of the build's record.
    location: String,
    nodes_end: NodeNo,
    sums: Vec<Adding>,
}

/// The recomputed sum of one sample type.
struct Adding {
    /// Number of columns, and of those that the record lists as separate.
    columns: usize,
    separate: usize,
    /// The sum of all columns; `None` if one could not be read.
    total: Option<Cost>,
    /// The sum of the columns that are not separate; `None` if one could not be read.
    sum: Option<CostAdder>,
}

impl Adding {
    fn new() -> Self {
        Adding {
            columns: 0,
            separate: 0,
            total: Some(Cost::ZERO),
            sum: Some(CostAdder::default()),
        }
    }
}

impl Sums<'_> {
    fn add(
        &mut self,
        profile: &ProfileRecord,
        number: TypeNo,
        costs: Option<NodeCosts>,
        damages: &mut Corruptions,
    ) {
        let sample_type = &profile.profile.sample_types[number.get()];
        let mut sums = self.build.sums.iter().zip(&mut self.sums);
        let Some((sum, adding)) = sums.find(|(sum, _)| sum.sample_type == *sample_type) else {
            return self.wrong("a profile's sample type has no sum", damages);
        };
        adding.total = adding.total.and_then(|before| {
            let mut costs = costs.as_ref()?.iter().map(|&(_, cost)| cost);
            costs.try_fold(before, Cost::checked_add)
        });
        adding.columns += 1;
        if sum.separate.contains(&(profile.number, number)) {
            adding.separate += 1;
        } else {
            adding.sum = adding.sum.take().and_then(|mut sum| {
                sum.add(costs?).ok()?;
                Some(sum)
            });
        }
    }

    fn wrong(&self, what: &str, damages: &mut Corruptions) {
        damages.add(&self.location, what, Concerns::build(self.build));
    }

    fn finish(mut self, columns: &mut Columns, damages: &mut Corruptions) {
        let mut types = HashSet::new();
        let mut adding = std::mem::take(&mut self.sums);
        let sums = self.build.sums.iter().zip(&mut adding);
        for (number, (sum, adding)) in self.build.types().zip(sums) {
            if !types.insert(&sum.sample_type) {
                self.wrong("two sums have the same sample type", damages);
            } else if adding.columns == 0 {
                self.wrong("no profile has the sample type of a sum", damages);
            }
            if adding.columns > 0 && adding.total.is_some_and(|total| total != sum.total) {
                self.wrong("a total differs from its profiles' costs", damages);
            }
            if adding.separate != sum.separate.len() {
                self.wrong(
                    "a sum refers to a column of another build or sample type",
                    damages,
                );
            }
            if !sum.has_column {
                if adding.separate != adding.columns {
                    self.wrong("a profile's costs are not in any sum", damages);
                }
                continue;
            }
            let column = Column::Sums(self.build.number, number);
            columns.mark_used(column.key());
            let stored = read_costs(self.rows, column, self.nodes_end);
            if let Some(stored) = damages.record_error(stored, Concerns::build(self.build))
                && let Some(sum) = adding.sum.take()
                && sum.finish().is_ok_and(|sum| sum != stored)
            {
                let what = "it is not the sum of its profiles' costs";
                damages.add(column, what, Concerns::build(self.build));
            }
        }
    }
}
