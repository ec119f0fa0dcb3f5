//! Counting a profile to its build.

use super::{refused, take_number};
use crate::model::{Build, Profile};
use crate::store::codec::{BuildRecord, Sum, Told, pack_costs};
use crate::store::error::Fault;
use crate::store::read::sum;
use crate::store::rows::{NewRows, Rows};
use crate::store::tables::{Column, Record};
use crate::units::Cost;

/// Adds the profile with this number and these costs, one column a sample type, to its build.
pub(super) fn plan(
    rows: &Rows,
    new: &mut NewRows,
    build: &Build,
    profile: &Profile,
    number: u32,
    costs: &[Vec<(u32, Cost)>],
    node_count: usize,
) -> Result<(), Fault> {
    let id = build.id();
    let mut record = match rows.record(Record::Build, id.0)? {
        Some(record) => record,
        None => BuildRecord {
            executable: build.executable.clone(),
            version: build.version.clone(),
            gnu_build_id: None,
            revision: None,
            number: take_number(&mut new.contents.builds)?,
            profiles: 0,
            samples: 0,
            sums: Vec::new(),
        },
    };
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
    let types = &profile.sample_types;
    for (part, sample_type) in types.iter().enumerate() {
        // Two events of a recording may bear one name.
        if types[..part].contains(sample_type) {
            continue;
        }
        let parts: Vec<u32> = (0..types.len() as u32)
            .filter(|&part| types[part as usize] == *sample_type)
            .collect();
        let place = record
            .sums
            .iter()
            .position(|sum| sum.sample_type == *sample_type);
        let mut columns: Vec<_> = parts
            .iter()
            .map(|&part| costs[part as usize].clone())
            .collect();
        match place {
            Some(place) => columns.push(sum(rows, &record, place, node_count)?),
            None => record.sums.push(Sum {
                sample_type: sample_type.clone(),
                only: Some((number, parts[0])).filter(|_| parts.len() == 1),
            }),
        }
        if columns.len() > 1 {
            let place = place.unwrap_or(record.sums.len() - 1);
            record.sums[place].only = None;
            let pack = pack_costs(&added(columns)?).map_err(refused)?;
            new.remove_column(Column::Sums, record.number, place as u32);
            new.column(Column::Sums, record.number, place as u32, pack);
        }
    }
    new.record(Record::Build, id.0, &record)
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

/// The costs of several columns, node by node.
fn added(columns: Vec<Vec<(u32, Cost)>>) -> Result<Vec<(u32, Cost)>, Fault> {
    let mut all: Vec<(u32, Cost)> = columns.into_iter().flatten().collect();
    // Stable, as that is quick with runs that are in order.
    all.sort_by_key(|&(node, _)| node);
    let mut sums: Vec<(u32, Cost)> = Vec::with_capacity(all.len());
    for (node, cost) in all {
        match sums.last_mut() {
            Some((last, sum)) if *last == node => *sum = sum.checked_add(cost).ok_or(TOO_MANY)?,
            _ => sums.push((node, cost)),
        }
    }
    Ok(sums)
}
