//! Listing builds, and loading stacks and costs.

use super::codec::{
    BuildRecord, ExecutableRecord, ProfileRecord, unpack_costs, unpack_lines, unpack_modules,
};
use super::error::Fault;
use super::preorder::{mark_callers, preorder};
use super::rows::{Found, Frames, Rows, column_place};
use super::tables::{Column, Record};
use super::{Loaded, LoadedLines, StoredBuild, StoredProfile};
use crate::id::{BuildId, ExecutableId, ProfileId};
use crate::intern::SelfCosts;
use crate::model::{FrameIx, FrameTable, ModuleRef};
use crate::units::Bytes;
use hashbrown::HashMap;

/// Every build with its profiles.
pub(super) fn builds(rows: &Rows) -> Result<Vec<StoredBuild>, Fault> {
    let records: Vec<Found<BuildRecord>> = rows.records(Record::Build)?;
    if records.len() != rows.contents.builds as usize {
        return Err(Fault::damaged(
            "table records",
            "it has not as many builds as it should",
        ));
    }
    let mut modules = HashMap::new();
    let mut profiles: HashMap<BuildId, Vec<StoredProfile>> = HashMap::new();
    for Found { id, bytes, record } in rows.records(Record::Profile)? {
        let profile = stored_profile(rows, &mut modules, ProfileId(id), bytes, record)?;
        profiles
            .entry(profile.profile.build)
            .or_default()
            .push(profile);
    }

    let mut builds = Vec::with_capacity(records.len());
    for Found { id, record, .. } in records {
        let id = BuildId(id);
        let mut profiles = profiles.remove(&id).unwrap_or_default();
        if profiles.len() != record.profiles as usize || record.build.id() != id {
            let place = format!("table records, build {id}");
            return Err(Fault::damaged(
                place,
                "it has not the profiles that it should",
            ));
        }
        profiles.sort_by_key(|profile| (recorded(profile), profile.id));
        builds.push(StoredBuild {
            id,
            build: record.build,
            profiles,
        });
    }
    if !profiles.is_empty() {
        return Err(Fault::damaged(
            "table records",
            "a profile's build does not exist",
        ));
    }
    builds.sort_by(|a, b| {
        let first = |build: &StoredBuild| build.profiles.first().map(recorded);
        let (a_name, b_name) = (&a.build, &b.build);
        (&a_name.executable, first(a), &a_name.version).cmp(&(
            &b_name.executable,
            first(b),
            &b_name.version,
        ))
    });
    Ok(builds)
}

/// When a profile was recorded; profiles that do not tell come last.
fn recorded(profile: &StoredProfile) -> u64 {
    profile
        .profile
        .origin
        .recorded
        .map_or(u64::MAX, |time| time.0)
}

fn stored_profile(
    rows: &Rows,
    modules: &mut HashMap<u32, Vec<ModuleRef>>,
    id: ProfileId,
    bytes: u64,
    record: ProfileRecord,
) -> Result<StoredProfile, Fault> {
    let mut profile = record.profile;
    profile.modules = match modules.get(&record.modules) {
        Some(list) => list.clone(),
        None => {
            let list = unpack_modules(&rows.column(Column::Modules, record.modules, 0)?)
                .map_err(|flaw| flaw.at(column_place(Column::Modules, record.modules, 0)))?;
            modules.insert(record.modules, list.clone());
            list
        }
    };
    Ok(StoredProfile {
        id,
        profile,
        stored: Bytes(record.written + bytes),
        slices: Bytes(record.slices.0),
    })
}

/// The stacks and self costs of profiles of one executable.
pub(super) fn load(
    rows: &Rows,
    executable: ExecutableId,
    profiles: &[ProfileId],
) -> Result<Loaded, Fault> {
    let Some(&first) = profiles.first() else {
        return Ok(Loaded::default());
    };
    let executable: ExecutableRecord = rows
        .record(Record::Executable, executable.0)?
        .ok_or(Fault::NoProfile(first))?;
    let mut costs = Vec::with_capacity(profiles.len());
    for &id in profiles {
        let record = profile_record(rows, id)?;
        let build: BuildRecord = rows
            .record(Record::Build, record.profile.build.0)?
            .ok_or_else(|| Fault::damaged("table records", "a profile's build does not exist"))?;
        if build.build.executable != executable.name {
            return Err(Fault::NoProfile(id));
        }
        costs.push(load_costs(rows, &record, executable.nodes as usize)?);
    }

    let stored = rows.frames()?;
    let nodes = rows.nodes(&executable, stored.len())?;
    let mut marked = vec![false; nodes.len()];
    for &(node, _) in costs.iter().flatten().flatten() {
        marked[node as usize] = true;
    }
    mark_callers(&nodes, &mut marked);
    let used = nodes
        .frames
        .iter()
        .zip(&marked)
        .filter(|&(_, &marked)| marked);
    let (frames, ix) = chosen_frames(&stored, used.map(|(&frame, _)| frame))?;
    let (tree, places) = preorder(&nodes, &marked, &ix);
    let place = |costs: Vec<(u32, _)>| -> SelfCosts {
        let placed = costs
            .into_iter()
            .map(|(node, cost)| (places[node as usize], cost));
        let mut placed: SelfCosts = placed.collect();
        placed.sort_unstable_by_key(|&(node, _)| node);
        placed
    };
    let costs = costs
        .into_iter()
        .map(|types| types.into_iter().map(place).collect());
    Ok(Loaded {
        costs: costs.collect(),
        frames,
        tree,
    })
}

pub(super) fn profile_record(rows: &Rows, id: ProfileId) -> Result<ProfileRecord, Fault> {
    rows.record(Record::Profile, id.0)?
        .ok_or(Fault::NoProfile(id))
}

fn load_costs(
    rows: &Rows,
    record: &ProfileRecord,
    node_count: usize,
) -> Result<Vec<Vec<(u32, crate::units::Cost)>>, Fault> {
    (0..record.profile.sample_types.len() as u32)
        .map(|part| {
            unpack_costs(
                &rows.column(Column::Costs, record.number, part)?,
                node_count,
            )
            .map_err(|flaw| flaw.at(column_place(Column::Costs, record.number, part)))
        })
        .collect()
}

/// The line costs of a profile.
pub(super) fn load_lines(rows: &Rows, profile: ProfileId) -> Result<LoadedLines, Fault> {
    let record = profile_record(rows, profile)?;
    let stored = rows.frames()?;
    let mut lines = Vec::new();
    for part in 0..record.profile.sample_types.len() as u32 {
        let column = rows.column(Column::Lines, record.number, part)?;
        lines.push(
            unpack_lines(&column, stored.len())
                .map_err(|flaw| flaw.at(column_place(Column::Lines, record.number, part)))?,
        );
    }
    let used = lines.iter().flatten().map(|line| line.frame.0);
    let (frames, ix) = chosen_frames(&stored, used)?;
    for lines in &mut lines {
        for line in &mut *lines {
            line.frame = ix[line.frame.get()];
        }
        lines.sort_unstable_by_key(|line| (line.frame, line.line));
    }
    Ok(LoadedLines { frames, lines })
}

/// The frames with these numbers, in their order; and by number, the place of each there.
fn chosen_frames(
    stored: &Frames,
    numbers: impl Iterator<Item = u32>,
) -> Result<(FrameTable, Vec<FrameIx>), Fault> {
    let mut chosen = vec![false; stored.len() as usize];
    for number in numbers {
        chosen[number as usize] = true;
    }
    let mut order: Vec<u32> = (0..stored.len()).filter(|&n| chosen[n as usize]).collect();
    // Packs are sorted already, and a stable sort makes use of that.
    order.sort_by(|&a, &b| stored.get(a).cmp(&stored.get(b)));
    let mut frames = FrameTable::new();
    let mut places = vec![FrameIx(u32::MAX); chosen.len()];
    for number in order {
        let place = FrameIx(frames.len() as u32);
        if frames.insert(stored.get(number)) != place {
            return Err(Fault::damaged(
                "table columns, frames",
                "a frame stands twice",
            ));
        }
        places[number as usize] = place;
    }
    Ok((frames, places))
}
