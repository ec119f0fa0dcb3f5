//! Listing builds, and loading stacks and costs.

use super::chosen::Chosen;
use super::codec::{BuildRecord, ExecutableRecord, ProfileRecord, unpack_modules, unpack_slices};
use super::counts::{Counts, NodeCosts, read_costs, read_lines};
use super::error::Fault;
use super::guard::guarded;
use super::packs::{Frames, NodePack};
use super::preorder::{mark_callers, preorder};
use super::rows::{Found, Rows, column_place};
use super::tables::{Column, Record};
use super::write::sum;
use super::{Loaded, LoadedBuild, LoadedLines, StoredBuild, StoredProfile};
use crate::id::{BuildId, ExecutableId, ProfileId};
use crate::intern::{Interned, LineCost, NodeIx, SelfCosts, StackTree};
use crate::model::{FrameIx, FrameTable, ModuleRef, Profile};
use crate::units::Bytes;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::sync::Arc;

/// Every build with its profiles.
pub(super) fn builds(rows: &Rows) -> Result<Vec<StoredBuild>, Fault> {
    let records: Vec<Found<BuildRecord>> = rows.records(Record::Build)?;
    let profiles: Vec<Found<ProfileRecord>> = rows.records(Record::Profile)?;
    for (found, expected, what) in [
        (
            records.len(),
            rows.contents.builds,
            "it has not as many builds as it should",
        ),
        (
            profiles.len(),
            rows.contents.profiles,
            "it has not as many profiles as it should",
        ),
    ] {
        if found != expected as usize {
            return Err(Fault::damaged("table records", what));
        }
    }
    let modules = module_lists(rows)?;
    let mut builds: HashMap<BuildId, StoredBuild> = HashMap::with_capacity(records.len());
    for Found { id, record, .. } in &records {
        let build = StoredBuild {
            id: BuildId(*id),
            build: record.build(),
            profiles: Vec::with_capacity(record.profiles.min(rows.contents.profiles) as usize),
        };
        builds.insert(build.id, build);
    }
    for profile in profiles {
        let profile = stored_profile(&modules, profile)?;
        let build = builds.get_mut(&profile.profile.build);
        let build = build
            .ok_or_else(|| Fault::damaged("table records", "a profile's build does not exist"))?;
        build.profiles.push(profile);
    }
    for Found { id, record, .. } in &records {
        let build = &builds[&BuildId(*id)];
        if build.profiles.len() != record.profiles as usize || build.build.id() != build.id {
            let place = format!("table records, build {}", build.id);
            return Err(Fault::damaged(
                place,
                "it has not the profiles that it should",
            ));
        }
    }
    let mut builds: Vec<StoredBuild> = builds.into_values().collect();
    for build in &mut builds {
        build
            .profiles
            .sort_by_key(|stored| (recorded(&stored.profile), stored.id));
    }
    builds.sort_by(|a, b| {
        let first = |build: &StoredBuild| {
            build
                .profiles
                .first()
                .map(|stored| recorded(&stored.profile))
        };
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
pub(super) fn recorded(profile: &Profile) -> u64 {
    profile.origin.recorded.map_or(u64::MAX, |time| time.0)
}

/// Every module list, by its number.
pub(super) fn module_lists(rows: &Rows) -> Result<Vec<Arc<[ModuleRef]>>, Fault> {
    let lists = (0..rows.contents.modules).into_par_iter();
    // Guarded one by one: this is another thread.
    let lists = lists.map(|number| guarded(|| module_list(rows, number)));
    lists.collect()
}

/// The module list with this number.
pub(super) fn module_list(rows: &Rows, number: u32) -> Result<Arc<[ModuleRef]>, Fault> {
    let list = unpack_modules(&rows.column(Column::Modules, number, 0)?)
        .map_err(|flaw| flaw.at(column_place(Column::Modules, number, 0)))?;
    Ok(list.into())
}

fn stored_profile(
    modules: &[Arc<[ModuleRef]>],
    Found { id, bytes, record }: Found<ProfileRecord>,
) -> Result<StoredProfile, Fault> {
    let modules = modules.get(record.modules as usize);
    let modules = modules
        .ok_or_else(|| Fault::damaged("table records", "a profile's modules do not exist"))?;
    let mut profile = record.profile;
    profile.modules = modules.clone();
    Ok(StoredProfile {
        id: ProfileId(id),
        profile,
        gnu_build_id: record.gnu_build_id,
        revision: record.revision,
        stored: Bytes(record.columns + bytes),
        slices: Bytes(record.slices),
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
        if build_of(rows, &record)?.executable != executable.name {
            return Err(Fault::NoProfile(id));
        }
        let parts = 0..record.profile.sample_types.len() as u32;
        let types = parts
            .map(|part| read_costs(rows, Column::Costs, record.number, part, executable.nodes));
        costs.push(types.collect::<Result<Vec<NodeCosts>, Fault>>()?);
    }

    cut_out(rows, &executable, costs)
}

/// The stacks of a build, and its self costs over all its profiles.
pub(super) fn load_build(rows: &Rows, id: BuildId) -> Result<LoadedBuild, Fault> {
    let build: BuildRecord = rows
        .record(Record::Build, id.0)?
        .ok_or(Fault::NoBuild(id))?;
    let executable = ExecutableId::of(&build.executable);
    let executable: ExecutableRecord = rows
        .record(Record::Executable, executable.0)?
        .ok_or_else(|| Fault::damaged("table records", "a build's executable does not exist"))?;
    let sums = (0..build.sums.len()).map(|place| sum(rows, &build, place, executable.nodes));
    let sums = sums.collect::<Result<Vec<NodeCosts>, Fault>>()?;
    let loaded = cut_out(rows, &executable, vec![sums])?;
    Ok(LoadedBuild {
        profiles: build.profiles as usize,
        sample_types: build.sums.into_iter().map(|sum| sum.sample_type).collect(),
        frames: loaded.frames,
        tree: loaded.tree,
        costs: loaded.costs.into_iter().flatten().collect(),
    })
}

/// The stacks that these costs are of, and the costs by their places there.
fn cut_out(
    rows: &Rows,
    executable: &ExecutableRecord,
    costs: Vec<Vec<NodeCosts>>,
) -> Result<Loaded, Fault> {
    let (frames, packs) = rayon::join(
        // Guarded on its own: this may be another thread.
        || guarded(|| rows.frames()),
        || guarded(|| rows.node_packs(executable)),
    );
    let tree = ExecutableTree {
        frames: &frames?,
        packs: packs?,
        len: executable.nodes,
    };
    let cut = tree.cut(rows, costs.iter().flatten(), &[])?;
    let costs = costs
        .into_iter()
        .map(|types| types.into_iter().map(|costs| cut.place(costs)).collect());
    Ok(Loaded {
        costs: costs.collect(),
        frames: cut.frames,
        tree: cut.tree,
    })
}

/// The nodes of an executable and the frames of its store: what profiles are cut out of.
pub(super) struct ExecutableTree<'a> {
    frames: &'a Frames,
    packs: Vec<NodePack>,
    /// Number of nodes.
    len: u32,
}

impl<'a> ExecutableTree<'a> {
    /// Reads all packs of an executable's nodes.
    pub(super) fn unpack(
        rows: &Rows,
        frames: &'a Frames,
        executable: &ExecutableRecord,
    ) -> Result<Self, Fault> {
        let packs = rows.node_packs(executable)?;
        packs
            .par_iter()
            .try_for_each(|pack| pack.steps(rows).map(drop))?;
        Ok(ExecutableTree {
            frames,
            packs,
            len: executable.nodes,
        })
    }

    /// All that is a profile's own, with the stacks and frames that it is of: as it went in.
    pub(super) fn profile(&self, rows: &Rows, record: &ProfileRecord) -> Result<Interned, Fault> {
        let Counts {
            costs,
            mut lines,
            slices,
        } = Counts::read(rows, record, self.len)?;
        let cut = self.cut(rows, &costs, &lines)?;
        place_lines(&mut lines, &cut.frame_places);
        let costs: Vec<SelfCosts> = costs.into_iter().map(|costs| cut.place(costs)).collect();
        let slices = slices.map(|pack| {
            unpack_slices(&pack, &costs)
                .map_err(|flaw| flaw.at(column_place(Column::Slices, record.number, 0)))
        });
        Ok(Interned {
            slices: slices.transpose()?,
            costs,
            lines,
            frames: cut.frames,
            tree: cut.tree,
        })
    }

    /// The nodes that have costs and their callers, and the frames of these and of lines.
    fn cut<'c>(
        &self,
        rows: &Rows,
        costs: impl IntoIterator<Item = &'c NodeCosts> + Clone,
        lines: &[Vec<LineCost>],
    ) -> Result<Cut<'_>, Fault> {
        let chosen = Chosen::of(&self.packs, costs.clone());
        let nodes = chosen.unpack(rows)?;
        let mut marked = vec![false; nodes.len()];
        for place in costs.into_iter().flat_map(|costs| chosen.places_of(costs)) {
            marked[place as usize] = true;
        }
        mark_callers(&nodes, &mut marked);
        let used = nodes.frames.iter().zip(&marked);
        let used = used.filter(|&(_, &marked)| marked).map(|(&frame, _)| frame);
        let order = chosen_order(self.frames, used.chain(frames_of(lines)));
        let frame_places = places_of(&order, self.frames);
        let (frames, (tree, places)) = rayon::join(
            || table_of(&order, self.frames),
            || preorder(&nodes, &marked, &frame_places),
        );
        Ok(Cut {
            frames: frames?,
            frame_places,
            tree,
            chosen,
            places,
        })
    }
}

/// A tree with frames of its own.
struct Cut<'a> {
    frames: FrameTable,
    /// By the store's number of a frame, its place in `frames`.
    frame_places: Vec<FrameIx>,
    tree: StackTree,
    chosen: Chosen<'a>,
    /// By place among the chosen nodes, the place in `tree`.
    places: Vec<NodeIx>,
}

impl Cut<'_> {
    fn place(&self, costs: NodeCosts) -> SelfCosts {
        let places = self.chosen.places_of(&costs);
        let placed = places.zip(&costs);
        let placed = placed.map(|(place, &(_, cost))| (self.places[place as usize], cost));
        let mut placed: SelfCosts = placed.collect();
        placed.sort_unstable_by_key(|&(node, _)| node);
        placed
    }
}

pub(super) fn profile_record(rows: &Rows, id: ProfileId) -> Result<ProfileRecord, Fault> {
    rows.record(Record::Profile, id.0)?
        .ok_or(Fault::NoProfile(id))
}

/// The build of a profile.
pub(super) fn build_of(rows: &Rows, record: &ProfileRecord) -> Result<BuildRecord, Fault> {
    rows.record(Record::Build, record.profile.build.0)?
        .ok_or_else(|| Fault::damaged("table records", "a profile's build does not exist"))
}

/// The line costs of a profile.
pub(super) fn load_lines(rows: &Rows, profile: ProfileId) -> Result<LoadedLines, Fault> {
    let record = profile_record(rows, profile)?;
    let parts = 0..record.profile.sample_types.len() as u32;
    let lines = parts.map(|part| read_lines(rows, record.number, part));
    let mut lines = lines.collect::<Result<Vec<_>, Fault>>()?;
    let stored = rows.frames()?;
    let order = chosen_order(&stored, frames_of(&lines));
    place_lines(&mut lines, &places_of(&order, &stored));
    Ok(LoadedLines {
        frames: table_of(&order, &stored)?,
        lines,
    })
}

fn frames_of(lines: &[Vec<LineCost>]) -> impl Iterator<Item = u32> {
    lines.iter().flatten().map(|line| line.frame.0)
}

fn place_lines(lines: &mut [Vec<LineCost>], places: &[FrameIx]) {
    for lines in lines {
        for line in &mut *lines {
            line.frame = places[line.frame.get()];
        }
        lines.sort_unstable_by_key(|line| (line.frame, line.line));
    }
}

/// These numbers of frames, in the order in which the frames compare.
fn chosen_order(stored: &Frames, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut chosen = vec![false; stored.len() as usize];
    for number in numbers {
        chosen[number as usize] = true;
    }
    frame_order(stored, &chosen)
}

/// By number of a frame, its place in an order.
fn places_of(order: &[u32], stored: &Frames) -> Vec<FrameIx> {
    let mut places = vec![FrameIx(u32::MAX); stored.len() as usize];
    for (place, &number) in (0..).zip(order) {
        places[number as usize] = FrameIx(place);
    }
    places
}

/// The frames with these numbers.
fn table_of(order: &[u32], stored: &Frames) -> Result<FrameTable, Fault> {
    let mut frames = FrameTable::new();
    for (place, &number) in (0..).zip(order) {
        if frames.insert(stored.get(number)) != FrameIx(place) {
            return Err(Fault::damaged(
                "table columns, frames",
                "a frame stands twice",
            ));
        }
    }
    Ok(frames)
}

/// The numbers of the chosen frames, in the order in which the frames compare.
pub(super) fn frame_order(stored: &Frames, chosen: &[bool]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..stored.len()).filter(|&n| chosen[n as usize]).collect();
    // Packs are sorted already, and a stable sort makes use of that.
    order.par_sort_by(|&a, &b| stored.get(a).cmp(&stored.get(b)));
    order
}
