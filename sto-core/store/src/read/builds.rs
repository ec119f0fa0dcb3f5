//! Listing builds, and loading stacks and costs.

use crate::codec::{BuildRecord, ExecutableRecord, ProfileRecord, unpack_modules};
use crate::error::{InternalError, Result};
use crate::guard::guarded;
use crate::numbers::{FrameNo, ModulesNo, Number};
use crate::read::commits::Commits;
use crate::read::counts::{NodeCosts, PackedCosts, read_lines};
use crate::read::cut::{SelectedTree, by_index, frames_of, indices_of, sort_frames, table_of};
use crate::read::rows::{RecordWithLocation, Rows, record_location};
use crate::read::selected_nodes::{NodeSet, SelectedNodes};
use crate::read::sources;
use crate::tables::{Column, Record};
use crate::write::{CostAdder, sum};
use crate::{Loaded, LoadedBuild, LoadedLines, StoredBuild, StoredProfile};
use hashbrown::HashMap;
use rayon::prelude::*;
use std::sync::Arc;
use sto_model::id::{BuildId, ExecutableId, ProfileId};
use sto_model::units::{Bytes, SampleType};
use sto_model::{Build, FrameIx, FrameTable, ModuleRef};

/// All builds with their profiles, in the order of [`Snapshot::builds`](crate::Snapshot::builds).
pub(crate) fn builds(rows: &Rows) -> Result<Vec<StoredBuild>> {
    let records: Vec<RecordWithLocation<BuildRecord>> = rows.records(Record::Build)?;
    let profiles: Vec<RecordWithLocation<ProfileRecord>> = rows.records(Record::Profile)?;
    for (found, expected, what) in [
        (
            records.len(),
            rows.contents.builds,
            "the number of builds differs from the store's contents",
        ),
        (
            profiles.len(),
            rows.contents.profiles,
            "the number of profiles differs from the store's contents",
        ),
    ] {
        if found != expected as usize {
            return Err(InternalError::damaged("table records", what));
        }
    }
    let modules = module_lists(rows)?;
    let commits = Commits::read(rows)?;
    let mut builds: HashMap<BuildId, StoredBuild> = HashMap::with_capacity(records.len());
    for RecordWithLocation { id, record, .. } in &records {
        let build = StoredBuild {
            id: BuildId(*id),
            build: known(record, &commits),
            profiles: Vec::with_capacity(record.profiles.min(rows.contents.profiles) as usize),
            tags: Vec::new(),
        };
        builds.insert(build.id, build);
    }
    for profile in profiles {
        let profile = stored_profile(&modules, &commits, profile)?;
        let build = builds.get_mut(&profile.profile.build);
        let build = build.ok_or_else(|| {
            InternalError::damaged("table records", "a profile's build does not exist")
        })?;
        build.profiles.push(profile);
    }
    for RecordWithLocation { id, record, .. } in &records {
        let build = &builds[&BuildId(*id)];
        if build.profiles.len() != record.profiles as usize || build.build.id() != build.id {
            let location = format!("table records, build {}", build.id);
            return Err(InternalError::damaged(
                location,
                "its profiles differ in number from its record, or its id is wrong",
            ));
        }
    }
    for tag in rows.tags()? {
        if let Some(build) = builds.get_mut(&tag.build()) {
            build.tags.push(tag.name);
        }
    }
    let mut builds: Vec<StoredBuild> = builds.into_values().collect();
    for build in &mut builds {
        build
            .profiles
            .sort_by_key(|stored| (stored.profile.recorded_sort_key(), stored.id));
    }
    builds.sort_by_cached_key(
        |StoredBuild {
             build, profiles, ..
         }| {
            let first = profiles.first();
            let first = first.map(|stored| stored.profile.recorded_sort_key());
            (build.executable.clone(), first, build.version.clone())
        },
    );
    Ok(builds)
}

/// The build with this id, if it exists.
pub(crate) fn build(rows: &Rows, id: BuildId) -> Result<Option<Build>> {
    let record: Option<BuildRecord> = rows.record(Record::Build, id.0)?;
    let commits = Commits::read(rows)?;
    Ok(record.map(|record| known(&record, &commits)))
}

fn known(record: &BuildRecord, commits: &Commits) -> Build {
    let build = record.build();
    Build {
        commit: commits.find_by_revision(build.revision.as_ref()),
        ..build
    }
}

/// All module lists, by number.
pub(crate) fn module_lists(rows: &Rows) -> Result<Vec<Arc<[ModuleRef]>>> {
    let lists = (0..rows.contents.modules.0).into_par_iter();
    // Each list has a separate guard, because another thread reads it.
    let lists = lists.map(|number| guarded(|| module_list(rows, ModulesNo(number))));
    lists.collect()
}

/// The module list with this number.
pub(crate) fn module_list(rows: &Rows, number: ModulesNo) -> Result<Arc<[ModuleRef]>> {
    let column = Column::Modules(number);
    let list = unpack_modules(&rows.column(column)?).map_err(|error| error.at(column))?;
    Ok(list.into())
}

fn stored_profile(
    modules: &[Arc<[ModuleRef]>],
    commits: &Commits,
    RecordWithLocation { id, bytes, record }: RecordWithLocation<ProfileRecord>,
) -> Result<StoredProfile> {
    let modules = modules.get(record.modules.get());
    let modules = modules.ok_or_else(|| {
        InternalError::damaged("table records", "a profile's modules do not exist")
    })?;
    let stored = record.columns.checked_add(bytes).ok_or_else(|| {
        let location = record_location(Record::Profile, id);
        InternalError::damaged(location, "its columns have more than 2^64 - 1 bytes")
    })?;
    let mut profile = record.profile;
    profile.modules = modules.clone();
    Ok(StoredProfile {
        id: ProfileId(id),
        profile,
        gnu_build_id: record.gnu_build_id,
        commit: commits.find_by_revision(record.revision.as_ref()),
        revision: record.revision,
        stored: Bytes(stored),
        slices: Bytes(record.slices),
    })
}

/// Loads the stacks and self costs of profiles of one executable.
pub(crate) fn load(
    rows: &Rows,
    executable: ExecutableId,
    profiles: &[ProfileId],
) -> Result<Loaded> {
    let Some(&first) = profiles.first() else {
        return Ok(Loaded::default());
    };
    let executable: ExecutableRecord = rows
        .record(Record::Executable, executable.0)?
        .ok_or(InternalError::NoProfile(first))?;
    load_selected(rows, &executable, || {
        let is_meant =
            |record: &ProfileRecord| Ok(build_of(rows, record)?.executable == executable.name);
        let costs = self_costs(rows, &executable, profiles, is_meant)?;
        Ok(costs.into_iter().map(|(_, costs)| costs).collect())
    })
}

/// Reads the sample types and self costs of profiles; all of them must fulfil `is_meant`.
fn self_costs(
    rows: &Rows,
    executable: &ExecutableRecord,
    profiles: &[ProfileId],
    is_meant: impl Fn(&ProfileRecord) -> Result<bool> + Sync,
) -> Result<Vec<(Vec<SampleType>, Vec<NodeCosts>)>> {
    let read = |&id| {
        let record = profile_record(rows, id)?;
        if !is_meant(&record)? {
            return Err(InternalError::NoProfile(id));
        }
        let column = |sample_type| Column::Costs(record.number, sample_type);
        let types = record.types();
        let packed = types.map(|t| PackedCosts::read(rows, column(t), executable.nodes));
        let packed = packed.collect::<Result<Vec<_>>>()?;
        Ok((record.profile.sample_types, packed))
    };
    // Each profile is guarded by itself, as it may be read on another thread.
    let packed = profiles.par_iter().map(|id| guarded(|| read(id)));
    let packed: Vec<_> = packed.collect::<Result<_>>()?;
    PackedCosts::check(packed.iter().flat_map(|(_, packed)| packed))?;
    let unpacked = packed.into_par_iter().map(|(types, packed)| {
        let costs = packed.iter().map(PackedCosts::unpack);
        Ok((types, costs.collect::<Result<_>>()?))
    });
    unpacked.collect()
}

/// Loads the stacks of a build and its self costs, summed over all or some of its profiles.
pub(crate) fn load_build(
    rows: &Rows,
    id: BuildId,
    profiles: Option<&[ProfileId]>,
) -> Result<LoadedBuild> {
    let build: BuildRecord = rows
        .record(Record::Build, id.0)?
        .ok_or(InternalError::NoBuild(id))?;
    let executable = ExecutableId::from_name(&build.executable);
    let executable: ExecutableRecord =
        rows.record(Record::Executable, executable.0)?
            .ok_or_else(|| {
                InternalError::damaged("table records", "a build's executable does not exist")
            })?;
    let some = profiles.filter(|profiles| profiles.len() != build.profiles as usize);
    let mut sample_types = Vec::new();
    let loaded = load_selected(rows, &executable, || {
        let sums;
        (sample_types, sums) = match some {
            Some(profiles) => sum_profiles(rows, &executable, id, profiles)?,
            None => {
                let sums = build
                    .types()
                    .map(|t| sum(rows, &build, t, executable.nodes));
                let sums = sums.collect::<Result<_>>()?;
                let types = build.sums.iter().map(|sum| sum.sample_type.clone());
                (types.collect(), sums)
            }
        };
        Ok(vec![sums])
    })?;
    Ok(LoadedBuild {
        profiles: some.map_or(build.profiles as usize, <[_]>::len),
        sample_types,
        frames: loaded.frames,
        tree: loaded.tree,
        costs: loaded.costs.into_iter().flatten().collect(),
    })
}

/// Sums the self costs of some profiles of a build by sample type. Only a few profiles are in memory at a time.
fn sum_profiles(
    rows: &Rows,
    executable: &ExecutableRecord,
    build: BuildId,
    profiles: &[ProfileId],
) -> Result<(Vec<SampleType>, Vec<NodeCosts>)> {
    let (mut types, mut sums): (Vec<SampleType>, Vec<CostAdder>) = Default::default();
    for batch in profiles.chunks(rayon::current_num_threads()) {
        let is_meant = |record: &ProfileRecord| Ok(record.profile.build == build);
        for (of_profile, costs) in self_costs(rows, executable, batch, is_meant)? {
            for (sample_type, costs) in of_profile.into_iter().zip(costs) {
                let known = types.iter().position(|known| *known == sample_type);
                let at = known.unwrap_or_else(|| {
                    types.push(sample_type);
                    sums.push(CostAdder::default());
                    sums.len() - 1
                });
                sums[at].add(costs)?;
            }
        }
    }
    let sums = sums.into_iter().map(CostAdder::finish);
    Ok((types, sums.collect::<Result<_>>()?))
}

/// Loads the stacks that have costs and their callers, with the costs by node.
fn load_selected(
    rows: &Rows,
    executable: &ExecutableRecord,
    read_costs: impl FnOnce() -> Result<Vec<Vec<NodeCosts>>> + Send,
) -> Result<Loaded> {
    // Each is guarded by itself, as it may run on another thread.
    let (costs, packs) = rayon::join(
        || guarded(read_costs),
        || guarded(|| rows.node_packs(executable)),
    );
    let (costs, packs) = (costs?, packs?);
    let (frames, picked) = rayon::join(
        || guarded(|| rows.frames()),
        || {
            SelectedNodes::new(
                &packs,
                NodeSet::from_costs(costs.iter().flatten(), executable.nodes)?,
            )
        },
    );
    let cut = SelectedTree::new(picked?, &frames?, &[])?;
    let costs = costs
        .into_par_iter()
        .map(|types| types.into_iter().map(|costs| cut.by_index(costs)).collect());
    Ok(Loaded {
        costs: costs.collect(),
        frames: cut.frames,
        tree: cut.tree,
    })
}

pub(crate) fn profile_record(rows: &Rows, id: ProfileId) -> Result<ProfileRecord> {
    rows.record(Record::Profile, id.0)?
        .ok_or(InternalError::NoProfile(id))
}

/// The build of a profile.
pub(crate) fn build_of(rows: &Rows, record: &ProfileRecord) -> Result<BuildRecord> {
    rows.record(Record::Build, record.profile.build.0)?
        .ok_or_else(|| InternalError::damaged("table records", "a profile's build does not exist"))
}

/// All frames of the store.
pub(crate) fn load_frames(rows: &Rows) -> Result<FrameTable> {
    let stored = rows.frames()?;
    table_of(&sort_frames(
        &stored,
        FrameNo(0).onward().take(stored.end().get()),
    ))
}

/// All frames of the store, and for each executable those of its stacks.
pub(crate) fn load_frames_of(
    rows: &Rows,
    executables: &[ExecutableId],
) -> Result<(FrameTable, Vec<Vec<FrameIx>>)> {
    let stored = rows.frames()?;
    let all = sort_frames(&stored, FrameNo(0).onward().take(stored.end().get()));
    let used = executables.iter().map(|executable| {
        let mut is_used = vec![false; stored.end().get()];
        let executable: Option<ExecutableRecord> = rows.record(Record::Executable, executable.0)?;
        let packs = executable.map(|executable| rows.node_packs(&executable));
        for pack in packs.transpose()?.into_iter().flatten() {
            for frame in &pack.nodes()?.frames {
                is_used[frame.get()] = true;
            }
        }
        let used = (0..)
            .zip(&all)
            .filter(|(_, (_, number))| is_used[number.get()]);
        Ok(used.map(|(ix, _)| FrameIx(ix)).collect())
    });
    Ok((table_of(&all)?, used.collect::<Result<_>>()?))
}

/// The line costs of a profile.
pub(crate) fn load_lines(rows: &Rows, profile: ProfileId) -> Result<LoadedLines> {
    let record = profile_record(rows, profile)?;
    let lines = record.types();
    let lines = lines.map(|sample_type| read_lines(rows, record.number, sample_type));
    let lines = lines.collect::<Result<Vec<_>>>()?;
    let stored = rows.frames()?;
    let order = sort_frames(&stored, frames_of(&lines));
    Ok(LoadedLines {
        frames: table_of(&order)?,
        lines: by_index(&lines, &indices_of(&order, &stored)),
        sources: sources::load(rows, profile, &record)?,
    })
}
