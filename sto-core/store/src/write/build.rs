//! Updates a build's record and sums when profiles are added.

use super::take_number;
use crate::codec::{BuildRecord, Contents, CostSum, EarliestFact, ProfileRecord, pack_costs};
use crate::error::{InternalError, Result, packing_error};
use crate::numbers::{NodeNo, Number, ProfileNo, TypeNo};
use crate::read::counts::{NodeCosts, PackedCosts};
use crate::read::rows::{NewRows, Rows};
use crate::tables::{Column, MAX_SEPARATE_COLUMNS, Record};
use rayon::prelude::*;
use sto_model::id::ProfileId;
use sto_model::units::{Cost, SampleType};
use sto_model::{Build, Profile};

/// A build being updated.
pub(crate) struct BuildTotals {
    record: BuildRecord,
    /// One for each sum of the record.
    sums: Vec<Adding>,
}

/// A sum being updated.
#[derive(Default)]
struct Adding {
    /// The build's own column, if it has one, and the separate columns. Either all of them, or none if they
    /// are not needed.
    columns: Vec<NodeCosts>,
    /// Whether the build's own column, which is the first, must be written.
    is_new: bool,
}

impl Adding {
    /// Adds the separate columns of a sum to the build's own.
    fn add_up(&mut self, sum: &mut CostSum) -> Result<()> {
        sum.separate.clear();
        sum.has_column = true;
        self.columns = vec![added(std::mem::take(&mut self.columns))?];
        self.is_new = true;
        Ok(())
    }
}

impl BuildTotals {
    /// A new build without profiles.
    pub(crate) fn new(build: &Build, contents: &mut Contents) -> Result<Self> {
        let record = BuildRecord {
            executable: build.executable.clone(),
            version: build.version.clone(),
            gnu_build_id: None,
            revision: None,
            number: take_number(&mut contents.next_build)?,
            profiles: 0,
            samples: 0,
            sums: Vec::new(),
        };
        contents.builds += 1;
        Ok(BuildTotals::without_profiles(record))
    }

    /// An existing build, reset so that its profiles can be added again.
    pub(crate) fn without_profiles(record: BuildRecord) -> Self {
        BuildTotals {
            record: BuildRecord {
                gnu_build_id: None,
                revision: None,
                profiles: 0,
                samples: 0,
                sums: Vec::new(),
                ..record
            },
            sums: Vec::new(),
        }
    }

    /// A stored build, to which columns of these sample types will be added; the executable's nodes are numbered below
    /// `nodes_end`.
    pub(crate) fn load<'a>(
        rows: &Rows,
        record: BuildRecord,
        new: impl IntoIterator<Item = &'a SampleType> + Clone,
        nodes_end: NodeNo,
    ) -> Result<Self> {
        let needs_columns = |sum: &CostSum| {
            let types = new.clone().into_iter();
            let new = types.filter(|&other| *other == sum.sample_type).count();
            sum.separate.len() + new > MAX_SEPARATE_COLUMNS
        };
        BuildTotals::load_if(rows, record, needs_columns, nodes_end)
    }

    /// A stored build whose separate columns are added to its own columns, so that their profiles may be replaced by
    /// profiles with the same sum.
    pub(crate) fn load_added_up(
        rows: &Rows,
        record: BuildRecord,
        nodes_end: NodeNo,
    ) -> Result<Self> {
        let mut totals = BuildTotals::load_if(rows, record, |_| true, nodes_end)?;
        for (sum, adding) in totals.record.sums.iter_mut().zip(&mut totals.sums) {
            adding.add_up(sum)?;
        }
        Ok(totals)
    }

    fn load_if(
        rows: &Rows,
        record: BuildRecord,
        needs_columns: impl Fn(&CostSum) -> bool,
        nodes_end: NodeNo,
    ) -> Result<Self> {
        let sums = record.sums.iter().zip(record.types()).map(|(sum, at)| {
            let columns = if needs_columns(sum) {
                unpacked(&columns(rows, &record, at, nodes_end)?)?
            } else {
                Vec::new()
            };
            Ok(Adding {
                columns,
                is_new: false,
            })
        });
        Ok(BuildTotals {
            sums: sums.collect::<Result<_>>()?,
            record,
        })
    }

    /// Adds a profile with this number and these costs, one column per sample type. `build` is the build's metadata
    /// in this profile.
    pub(crate) fn add(
        &mut self,
        id: ProfileId,
        build: &Build,
        profile: &Profile,
        number: ProfileNo,
        costs: &[NodeCosts],
    ) -> Result<()> {
        let record = &mut self.record;
        let recorded = profile.recorded_sort_key().0;
        let from = (recorded, id);
        learn(&mut record.gnu_build_id, build.gnu_build_id.as_ref(), from);
        learn(&mut record.revision, build.revision.as_ref(), from);
        record.profiles = record.profiles.checked_add(1).ok_or(TOO_MANY)?;
        record.samples = record
            .samples
            .checked_add(profile.quality.samples)
            .ok_or(TOO_MANY)?;
        let types = profile.sample_types.iter();
        for (number_of_type, (sample_type, costs)) in TypeNo(0).onward().zip(types.zip(costs)) {
            let known = record
                .sums
                .iter()
                .position(|sum| sum.sample_type == *sample_type);
            let at = known.unwrap_or_else(|| {
                record.sums.push(CostSum {
                    sample_type: sample_type.clone(),
                    total: Cost::ZERO,
                    has_column: false,
                    separate: Vec::new(),
                });
                self.sums.push(Adding::default());
                record.sums.len() - 1
            });
            let (sum, adding) = (&mut record.sums[at], &mut self.sums[at]);
            let mut costs_alone = costs.iter().map(|&(_, cost)| cost);
            sum.total = costs_alone
                .try_fold(sum.total, Cost::checked_add)
                .ok_or(TOO_MANY)?;
            sum.separate.push((number, number_of_type));
            adding.columns.push(costs.clone());
            if sum.separate.len() > MAX_SEPARATE_COLUMNS {
                adding.add_up(sum)?;
            }
        }
        Ok(())
    }

    /// Learns the metadata of the build again, from the profiles that stay.
    pub(crate) fn learn_again<'a>(
        &mut self,
        stay: impl Iterator<Item = (ProfileId, &'a ProfileRecord)>,
    ) {
        let build = &mut self.record;
        (build.gnu_build_id, build.revision) = (None, None);
        for (id, record) in stay {
            let from = (record.profile.recorded_sort_key().0, id);
            let gnu_build_id = record.gnu_build_id.as_ref();
            learn(&mut build.gnu_build_id, gnu_build_id, from);
            learn(&mut build.revision, record.revision.as_ref(), from);
        }
    }

    /// Replaces profiles of the build, whose columns were [added up](Self::load_added_up), by a profile with the same
    /// costs. The build's sums stay the same.
    pub(crate) fn replace(
        &mut self,
        gone: &[ProfileRecord],
        id: ProfileId,
        build: &Build,
        profile: &Profile,
    ) -> Result<()> {
        let record = &mut self.record;
        let from = (profile.recorded_sort_key().0, id);
        learn(&mut record.gnu_build_id, build.gnu_build_id.as_ref(), from);
        learn(&mut record.revision, build.revision.as_ref(), from);
        let gone_samples = gone.iter().map(|gone| gone.profile.quality.samples);
        let samples = (record.samples.checked_sub(gone_samples.sum()))
            .and_then(|left| left.checked_add(profile.quality.samples));
        record.samples = samples.ok_or(TOO_MANY)?;
        record.profiles = (record.profiles + 1).saturating_sub(gone.len() as u32);
        Ok(())
    }

    /// Writes the build's record and its new sums.
    pub(crate) fn write(&self, new: &mut NewRows) -> Result<()> {
        let record = &self.record;
        for (sum, adding) in record.types().zip(&self.sums) {
            if let (true, Some(costs)) = (adding.is_new, adding.columns.first()) {
                let pack = pack_costs(costs).map_err(packing_error)?;
                new.remove_column(Column::Sums(record.number, sum));
                new.column(Column::Sums(record.number, sum), pack);
            }
        }
        new.record(Record::Build, record.build().id().0, record)
    }
}

/// Computes one of a build's sums over its profiles.
pub(crate) fn sum(
    rows: &Rows,
    build: &BuildRecord,
    sum: TypeNo,
    nodes_end: NodeNo,
) -> Result<NodeCosts> {
    added(unpacked(&columns(rows, build, sum, nodes_end)?)?)
}

/// Adds columns of costs. The pending columns are never larger than the sum.
#[derive(Default)]
pub(crate) struct CostAdder {
    sum: NodeCosts,
    /// Pending columns, added when they are as large as the sum, so that each cost is moved only a few times.
    next: Vec<NodeCosts>,
    waiting: usize,
}

impl CostAdder {
    pub(crate) fn add(&mut self, costs: NodeCosts) -> Result<()> {
        self.waiting += costs.len();
        self.next.push(costs);
        if self.waiting > self.sum.len() {
            self.add_up()
        } else {
            Ok(())
        }
    }

    fn add_up(&mut self) -> Result<()> {
        self.next.push(std::mem::take(&mut self.sum));
        self.sum = added(std::mem::take(&mut self.next))?;
        self.waiting = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<NodeCosts> {
        self.add_up()?;
        Ok(self.sum)
    }
}

/// The columns of a sum: the build's own column first, if it has one, then the separate ones.
fn columns(
    rows: &Rows,
    build: &BuildRecord,
    number: TypeNo,
    nodes_end: NodeNo,
) -> Result<Vec<PackedCosts>> {
    let sum = &build.sums[number.get()];
    let own = sum.has_column.then_some(Column::Sums(build.number, number));
    let separate = sum.separate.iter();
    let separate = separate.map(|&(profile, sample_type)| Column::Costs(profile, sample_type));
    let columns = own.into_iter().chain(separate);
    let columns = columns.map(|column| PackedCosts::read(rows, column, nodes_end));
    columns.collect()
}

fn unpacked(columns: &[PackedCosts]) -> Result<Vec<NodeCosts>> {
    PackedCosts::check(columns.iter())?;
    columns.par_iter().map(PackedCosts::unpack).collect()
}

const TOO_MANY: InternalError =
    InternalError::Refused("its build would have counts of more than 2^64 - 1");

/// Keeps the value of the profile with the earliest recording.
fn learn<T: Clone>(
    known: &mut Option<EarliestFact<T>>,
    value: Option<&T>,
    (recorded, profile): (u64, ProfileId),
) {
    let is_later = |known: &EarliestFact<T>| (known.recorded, known.profile) > (recorded, profile);
    if let Some(value) = value
        && known.as_ref().is_none_or(is_later)
    {
        *known = Some(EarliestFact {
            value: value.clone(),
            recorded,
            profile,
        });
    }
}

/// Adds columns node by node.
fn added(mut columns: Vec<NodeCosts>) -> Result<NodeCosts> {
    if columns.len() < 2 {
        return Ok(columns.pop().unwrap_or_default());
    }
    let mut all = columns.concat();
    // A stable sort is fast on ascending runs.
    all.sort_by_key(|&(node, _)| node);
    let mut sums: NodeCosts = Vec::with_capacity(all.len());
    for (node, cost) in all {
        match sums.last_mut() {
            Some((last, sum)) if *last == node => *sum = sum.checked_add(cost).ok_or(TOO_MANY)?,
            _ => sums.push((node, cost)),
        }
    }
    Ok(sums)
}
