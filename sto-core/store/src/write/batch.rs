//! Adds many profiles in one transaction, some of them instead of the profiles that they are the sum of.

use super::check::check;
use super::{
    BuildTotals, commits, digest, frames, next_history, nodes, plan_modules, write_profile,
};
use crate::codec::{BuildRecord, ProfileRecord, ReadingRecord, pack_modules};
use crate::error::{InternalError, Result, packing_error};
use crate::numbers::{FrameNo, ModulesNo, NodeNo, Number};
use crate::read::builds::profile_record;
use crate::read::counts::{Counts, SideData};
use crate::read::rows::{NewRows, RecordWithLocation, Rows};
use crate::tables::Record;
use crate::{ProfileOrigin, StoreError, Writer};
use hashbrown::HashMap;
use rayon::prelude::*;
use redb::ReadableDatabase;
use std::collections::{BTreeMap, BTreeSet};
use sto_model::id::{BuildId, ProfileId};
use sto_model::tree::{ProfileData, StackSet};
use sto_model::{Build, FrameIx, FrameTable, Profile};

/// A profile that is added together with others.
#[derive(Clone, Debug)]
pub struct NewProfile {
    /// Its build.
    pub build: Build,
    /// Its metadata.
    pub profile: Profile,
    /// Its stacks and costs.
    pub data: ProfileData,
    /// Profiles of the same build that are removed, because this one is the sum of them. Empty for a profile that adds to
    /// its build.
    pub sum_of: Vec<ProfileId>,
}

impl Writer {
    /// Adds profiles in one transaction: all of them or none. Stacks that they share are searched only once.
    ///
    /// Profiles whose source is already stored for their build are skipped, with the profiles that they would replace.
    /// Returns the number of added profiles.
    ///
    /// # Errors
    /// Like [`Writer::add`]; also returns an error if a profile that another one is the sum of does not exist, or has
    /// another build or other sample types.
    pub fn add_all(&mut self, profiles: &[NewProfile]) -> std::result::Result<usize, StoreError> {
        let checked = profiles.par_iter().map(|new| {
            check(&new.build, &new.profile, &new.data)?;
            Ok((ProfileId::new(&new.build, &new.profile, &new.data), new))
        });
        let checked: Result<Vec<_>> = checked.collect();
        let profiles = checked.map_err(|error| error.at(self.store().path(), "write"))?;
        let snapshot = self.snapshot()?;
        let (seen, planned) = snapshot.read(|rows| Ok((rows.contents, plan(rows, &profiles)?)))?;
        drop(snapshot);
        let Some((count, new)) = planned else {
            return Ok(0);
        };
        let bytes = new.bytes();
        self.write(Some(bytes), |session| {
            let rows = Rows::open(&session.database.begin_read()?)?;
            let (count, new) = if rows.contents == seen {
                (count, new)
            } else {
                match plan(&rows, &profiles)? {
                    Some(again) => again,
                    None => return Ok(0),
                }
            };
            let transaction = session.begin()?;
            new.write(&transaction)?;
            transaction.commit()?;
            Ok(count)
        })
    }
}

/// Returns the number of profiles that are added and the rows to write; `None` if all are stored already.
fn plan(rows: &Rows, profiles: &[(ProfileId, &NewProfile)]) -> Result<Option<(usize, NewRows)>> {
    let mut readings = BTreeSet::new();
    let mut added = Vec::new();
    for &(id, new) in profiles {
        let reading = new.profile.build_recording_id();
        if rows.reading(reading)?.is_none() && readings.insert(reading) {
            added.push((id, new));
        }
    }
    if added.is_empty() {
        return Ok(None);
    }
    let mut new = NewRows::new(rows.contents);
    let gone = remove(rows, &mut new, &added)?;
    let (numbers, nodes_ends) = plan_stacks(rows, &mut new, &added)?;
    let mut builds = load_builds(rows, &mut new, &added, &nodes_ends)?;
    if !gone.is_empty() {
        let gone: BTreeSet<ProfileId> = added
            .iter()
            .flat_map(|(_, new)| new.sum_of.clone())
            .collect();
        learn_again(rows, &gone, &mut builds)?;
    }
    let mut modules = Modules::default();
    for (&(id, profile), (nodes, frames)) in added.iter().zip(&numbers) {
        let NewProfile {
            build,
            profile,
            data,
            sum_of: _,
        } = profile;
        let counts = Counts::new(data, SideData::pack(data)?, nodes, frames)?;
        let modules = modules.plan(rows, &mut new, profile)?;
        let reading = ReadingRecord {
            profile: id,
            from: ProfileOrigin::ReadHere,
        };
        let number = write_profile(&mut new, &reading, build, profile, modules, &counts)?;
        let totals = builds.get_mut(&profile.build);
        let totals = totals.expect("the builds of all added profiles are loaded");
        match gone.get(&id) {
            Some(gone) => totals.replace(gone, id, build, profile)?,
            None => totals.add(id, build, profile, number, &counts.costs)?,
        }
        commits::plan(rows, &mut new, build)?;
    }
    for totals in builds.values() {
        totals.write(&mut new)?;
    }
    Ok(Some((added.len(), new)))
}

/// The profiles that are replaced, by the profile that replaces them.
type Gone = BTreeMap<ProfileId, Vec<ProfileRecord>>;

/// Removes the rows of profiles that others are the sum of.
fn remove(rows: &Rows, new: &mut NewRows, added: &[(ProfileId, &NewProfile)]) -> Result<Gone> {
    let mut all = BTreeSet::new();
    let mut gone = Gone::new();
    for (id, sum) in added.iter().filter(|(_, new)| !new.sum_of.is_empty()) {
        let mut parts = Vec::new();
        for &part in &sum.sum_of {
            let record = profile_record(rows, part)?;
            let is_part = record.profile.build == sum.profile.build
                && record.profile.sample_types == sum.profile.sample_types;
            if !is_part || !all.insert(part) {
                return Err(InternalError::Refused(
                    "a part of the sum has another build or other sample types, or is in two sums",
                ));
            }
            new.remove_columns_of(record.number);
            new.remove_record(Record::Profile, part.0);
            new.remove_record(Record::Reading, record.profile.build_recording_id().0);
            new.contents.profiles = new.contents.profiles.saturating_sub(1);
            new.contents.history = next_history(new.contents.history, &part.0);
            parts.push(record);
        }
        gone.insert(*id, parts);
    }
    Ok(gone)
}

/// The store's numbers of a profile's nodes and frames.
type Numbers = (Vec<NodeNo>, Vec<FrameNo>);

/// Adds the missing frames and nodes. Returns each profile's numbers, and the end of the node numbers of each program.
fn plan_stacks<'a>(
    rows: &Rows,
    new: &mut NewRows,
    added: &[(ProfileId, &'a NewProfile)],
) -> Result<(Vec<Numbers>, BTreeMap<&'a str, NodeNo>)> {
    let mut table = FrameTable::new();
    let mut programs: BTreeMap<&str, (&Build, StackSet)> = BTreeMap::new();
    let inserted: Vec<(Vec<FrameIx>, Vec<u32>)> = added
        .iter()
        .map(|(_, NewProfile { build, data, .. })| {
            let frames = data.frames.iter();
            let frames: Vec<FrameIx> = frames.map(|(_, frame)| table.insert(frame)).collect();
            let program = programs.entry(&build.executable);
            let (_, set) = program.or_insert_with(|| (build, StackSet::default()));
            let stacks = set.insert_tree(&data.tree, &frames);
            (frames, stacks)
        })
        .collect();
    let planned = frames::plan(rows, new, &table)?;
    let (packs, planned_nodes) = rayon::join(
        || planned.pack(),
        || plan_nodes(rows, new, &table, &planned.numbers, programs),
    );
    packs?.write(new);
    let nodes = planned_nodes?;
    let numbers = added.iter().zip(inserted);
    let numbers = numbers.map(|((_, new), (frames, stacks))| {
        let (of_stacks, _) = &nodes[&*new.build.executable];
        let nodes_of = stacks.iter().map(|&stack| of_stacks[stack as usize]);
        let frames = frames.iter().map(|frame| planned.numbers[frame.get()]);
        (nodes_of.collect(), frames.collect())
    });
    let ends = nodes.iter().map(|(&program, &(_, end))| (program, end));
    Ok((numbers.collect(), ends.collect()))
}

/// The numbers of each program's stacks, and the end of its node numbers.
type ProgramNodes<'a> = BTreeMap<&'a str, (Vec<NodeNo>, NodeNo)>;

/// Adds the missing nodes.
fn plan_nodes<'a>(
    rows: &Rows,
    new: &mut NewRows,
    table: &FrameTable,
    frame_numbers: &[FrameNo],
    programs: BTreeMap<&'a str, (&Build, StackSet)>,
) -> Result<ProgramNodes<'a>> {
    let mut planned = ProgramNodes::new();
    for (name, (build, set)) in programs {
        let ordered = set.in_order(table, []);
        let mut of_frames = vec![FrameNo::NONE; ordered.frames.len()];
        for (frame, number) in ordered.frame_of.iter().zip(frame_numbers) {
            if let Some(of_frame) = of_frames.get_mut(frame.get()) {
                *of_frame = *number;
            }
        }
        let (of_nodes, end) = nodes::plan(rows, new, build, &ordered.tree, &of_frames)?;
        let of_stacks = ordered.node_of.iter().map(|node| of_nodes[node.get()]);
        planned.insert(name, (of_stacks.collect(), end));
    }
    Ok(planned)
}

/// The module lists that this batch added, by digest.
#[derive(Default)]
struct Modules(HashMap<[u8; 16], ModulesNo>);

impl Modules {
    fn plan(&mut self, rows: &Rows, new: &mut NewRows, profile: &Profile) -> Result<ModulesNo> {
        let list = pack_modules(&profile.modules).map_err(packing_error)?;
        let digest = digest(&[&list]);
        if let Some(&known) = self.0.get(&digest) {
            return Ok(known);
        }
        let stored = |digest| rows.record(Record::ModuleList, digest);
        let number = plan_modules(new, &profile.modules, stored)?;
        self.0.insert(digest, number);
        Ok(number)
    }
}

/// Loads the records of the builds, and the sums that the profiles change.
fn load_builds(
    rows: &Rows,
    new: &mut NewRows,
    added: &[(ProfileId, &NewProfile)],
    nodes_ends: &BTreeMap<&str, NodeNo>,
) -> Result<BTreeMap<BuildId, BuildTotals>> {
    let mut by_build: BTreeMap<BuildId, Vec<&NewProfile>> = BTreeMap::new();
    for (_, new) in added {
        by_build.entry(new.profile.build).or_default().push(new);
    }
    let mut builds = BTreeMap::new();
    for (id, profiles) in by_build {
        let build = &profiles[0].build;
        let nodes_end = nodes_ends[&*build.executable];
        let record: Option<BuildRecord> = rows.record(Record::Build, id.0)?;
        let totals = match record {
            None => BuildTotals::new(build, &mut new.contents)?,
            Some(record) if profiles.iter().any(|new| !new.sum_of.is_empty()) => {
                BuildTotals::load_added_up(rows, record, nodes_end)?
            }
            Some(record) => {
                let types = profiles.iter().flat_map(|new| &new.profile.sample_types);
                BuildTotals::load(rows, record, types, nodes_end)?
            }
        };
        builds.insert(id, totals);
    }
    Ok(builds)
}

/// Learns the metadata of the builds of removed profiles again, because it comes from the earliest profile.
fn learn_again(
    rows: &Rows,
    gone: &BTreeSet<ProfileId>,
    builds: &mut BTreeMap<BuildId, BuildTotals>,
) -> Result<()> {
    let all: Vec<RecordWithLocation<ProfileRecord>> = rows.records(Record::Profile)?;
    let all: Vec<_> = all
        .into_iter()
        .map(|found| (ProfileId(found.id), found.record))
        .collect();
    for (build, totals) in builds {
        let stay = all
            .iter()
            .filter(|(id, record)| record.profile.build == *build && !gone.contains(id));
        totals.learn_again(stay.map(|(id, record)| (*id, record)));
    }
    Ok(())
}
