//! Counting profiles to their build.

use super::{refused, take_number};
use crate::model::{Build, Profile};
use crate::store::codec::{BuildRecord, Contents, Sum, Told, pack_costs};
use crate::store::counts::{NodeCosts, read_costs};
use crate::store::error::Fault;
use crate::store::rows::{NewRows, Rows};
use crate::store::tables::{Column, Record};

/// A build to which profiles are counted.
pub(in crate::store) struct Tally {
    record: BuildRecord,
    /// By place in the record's sums; `None` where the store's column was not needed.
    sums: Vec<Option<NodeCosts>>,
}

impl Tally {
    /// A build that no profile was counted to.
    pub(in crate::store) fn new(build: &Build, contents: &mut Contents) -> Result<Self, Fault> {
        let record = BuildRecord {
            executable: build.executable.clone(),
            version: build.version.clone(),
            gnu_build_id: None,
            revision: None,
            number: take_number(&mut contents.builds)?,
            profiles: 0,
            samples: 0,
            sums: Vec::new(),
        };
        Ok(Tally {
            record,
            sums: Vec::new(),
        })
    }

    /// A build as a store has it; the executable has this many nodes.
    pub(in crate::store) fn of(
        rows: &Rows,
        record: BuildRecord,
        profile: &Profile,
        nodes: u32,
    ) -> Result<Self, Fault> {
        let sums = (0..record.sums.len()).map(|place| {
            let is_needed = profile
                .sample_types
                .contains(&record.sums[place].sample_type);
            is_needed
                .then(|| sum(rows, &record, place, nodes))
                .transpose()
        });
        Ok(Tally {
            sums: sums.collect::<Result<_, Fault>>()?,
            record,
        })
    }

    /// Counts the profile with this number and these costs, one column a sample type. The build is
    /// as this profile tells it.
    pub(in crate::store) fn add(
        &mut self,
        build: &Build,
        profile: &Profile,
        number: u32,
        costs: &[NodeCosts],
    ) -> Result<(), Fault> {
        let record = &mut self.record;
        tell(
            &mut record.gnu_build_id,
            build.gnu_build_id.as_ref(),
            profile,
        );
        tell(&mut record.revision, build.revision.as_ref(), profile);
        take_number(&mut record.profiles)?;
        record.samples = record
            .samples
            .checked_add(profile.quality.samples)
            .ok_or(TOO_MANY)?;
        for (part, (sample_type, costs)) in (0..).zip(profile.sample_types.iter().zip(costs)) {
            let known = record
                .sums
                .iter()
                .position(|sum| sum.sample_type == *sample_type);
            match known {
                Some(place) => {
                    record.sums[place].only = None;
                    let before = self.sums[place].take().unwrap_or_default();
                    self.sums[place] = Some(added(before, costs)?);
                }
                None => {
                    record.sums.push(Sum {
                        sample_type: sample_type.clone(),
                        only: Some((number, part)),
                    });
                    self.sums.push(Some(costs.clone()));
                }
            }
        }
        Ok(())
    }

    /// Writes the build, and those sums that are no profile's own column.
    pub(in crate::store) fn write(&self, new: &mut NewRows) -> Result<(), Fault> {
        let record = &self.record;
        for (place, (sum, costs)) in (0..).zip(record.sums.iter().zip(&self.sums)) {
            if let (None, Some(costs)) = (sum.only, costs) {
                let pack = pack_costs(costs).map_err(refused)?;
                new.remove_column(Column::Sums, record.number, place);
                new.column(Column::Sums, record.number, place, pack);
            }
        }
        new.record(Record::Build, record.build().id().0, record)
    }
}

/// The sum of one sample type over a build's profiles: the one at this place of the record.
pub(in crate::store) fn sum(
    rows: &Rows,
    build: &BuildRecord,
    place: usize,
    nodes: u32,
) -> Result<NodeCosts, Fault> {
    match build.sums[place].only {
        Some((profile, part)) => read_costs(rows, Column::Costs, profile, part, nodes),
        None => read_costs(rows, Column::Sums, build.number, place as u32, nodes),
    }
}

const TOO_MANY: Fault = Fault::Refused("its build would have counts of more than 2^64 - 1");

/// Believes the profile that was recorded first.
fn tell<T: Clone>(known: &mut Option<Told<T>>, value: Option<&T>, profile: &Profile) {
    let recorded = profile.origin.recorded.map_or(u64::MAX, |time| time.0);
    let profile = profile.id();
    let is_later = |told: &Told<T>| (told.recorded, told.profile) > (recorded, profile);
    if let Some(value) = value
        && known.as_ref().is_none_or(is_later)
    {
        *known = Some(Told {
            value: value.clone(),
            recorded,
            profile,
        });
    }
}

/// The costs of two columns, node by node.
fn added(mut a: NodeCosts, b: &NodeCosts) -> Result<NodeCosts, Fault> {
    a.extend_from_slice(b);
    // Stable, as that is quick with runs that are in order.
    a.sort_by_key(|&(node, _)| node);
    let mut sums: NodeCosts = Vec::with_capacity(a.len());
    for (node, cost) in a {
        match sums.last_mut() {
            Some((last, sum)) if *last == node => *sum = sum.checked_add(cost).ok_or(TOO_MANY)?,
            _ => sums.push((node, cost)),
        }
    }
    Ok(sums)
}
