//! Rewrites a store with some of its profiles.
//!
//! The result depends only on these profiles and the tags of their builds, not on the order of addition or on
//! other content of the store. Numbers are assigned in a fixed order: executables and builds by name,
//! profiles by recording time, frames in ascending order, nodes in preorder. So stores of the same
//! profiles and tags become identical files, and nodes and frames that no profile uses are gone.

use crate::ProfileOrigin;
use crate::codec::{BuildRecord, ExecutableRecord, NodeColumns, ProfileRecord, ReadingRecord};
use crate::error::{InternalError, Result};
use crate::numbers::{FrameNo, ModulesNo, NodeNo, Number, ProfileNo};
use crate::read::builds::module_lists;
use crate::read::commits::{Commits, address};
use crate::read::counts::{Counts, read_all_costs};
use crate::read::cut::sort_chosen_frames;
use crate::read::kept;
use crate::read::preorder::preorder;
use crate::read::rows::{NewRows, RecordWithLocation, Rows};
use crate::read::selected_nodes::{NodeSet, SelectedNodes};
use crate::tables::Record;
use crate::write::frames::FramePacks;
use crate::write::tags::{self, Tag};
use crate::write::{BuildTotals, add, next_history, nodes, plan_modules, take_number};
use hashbrown::{HashMap, HashSet};
use redb::{Database, ReadableDatabase};
use std::sync::Arc;
use sto_model::id::{BuildId, ExecutableId, ProfileId};
use sto_model::{Build, FrameIx, ModuleRef, Profile};

/// Writes the profiles selected by `keep` into an empty store, which replaces this one or is an export.
pub(crate) fn rewrite(
    rows: &Rows,
    keep: &dyn Fn(ProfileId) -> bool,
    is_export: bool,
    destination: &Database,
) -> Result<()> {
    let executables = chosen(rows, keep)?;
    let mut used = vec![false; rows.contents.frames.get()];
    let mut marked = Vec::with_capacity(executables.len());
    for executable in &executables {
        marked.push(mark(rows, executable, &mut used)?);
    }
    let mut new = NewStore::new(destination, is_export)?;
    let frames = write_frames(rows, &used, &mut new)?;
    let lists = module_lists(rows)?;
    for (executable, marks) in executables.iter().zip(marked) {
        write_executable(rows, executable, marks, &frames, &lists, &mut new)?;
    }
    write_tags(rows, &executables, &mut new)?;
    write_commits(rows, &executables, &mut new)?;
    write_replaced(rows, keep, &mut new)?;
    // At the end, so that no sequence of additions gives the history of a rewritten store.
    let contents = &mut new.new.contents;
    contents.history = next_history(contents.history, b"written anew\0\0\0\0");
    new.flush()
}

/// An executable with selected profiles.
struct Executable {
    record: ExecutableRecord,
    /// In order of version.
    builds: Vec<(BuildRecord, Vec<Chosen>)>,
}

struct Chosen {
    id: ProfileId,
    record: ProfileRecord,
    from: ProfileOrigin,
}

/// The selected profiles by executable and build, oldest recording first.
fn chosen(rows: &Rows, keep: &dyn Fn(ProfileId) -> bool) -> Result<Vec<Executable>> {
    let mut by_build: HashMap<BuildId, Vec<Chosen>> = HashMap::new();
    for RecordWithLocation { id, record, .. } in rows.records::<ProfileRecord>(Record::Profile)? {
        let id = ProfileId(id);
        if keep(id) {
            let reading = rows.reading(record.profile.build_recording_id())?;
            let from = reading.map_or(ProfileOrigin::Exported, |reading| reading.from);
            let build = by_build.entry(record.profile.build).or_default();
            build.push(Chosen { id, record, from });
        }
    }
    let mut builds: Vec<(BuildRecord, Vec<Chosen>)> = Vec::new();
    for RecordWithLocation { id, record, .. } in rows.records::<BuildRecord>(Record::Build)? {
        if let Some(mut profiles) = by_build.remove(&BuildId(id)) {
            profiles.sort_by_key(|chosen| (chosen.record.profile.recorded_sort_key(), chosen.id));
            builds.push((record, profiles));
        }
    }
    if !by_build.is_empty() {
        return Err(InternalError::damaged(
            "table records",
            "a profile's build does not exist",
        ));
    }
    builds.sort_by(|(a, _), (b, _)| (&a.executable, &a.version).cmp(&(&b.executable, &b.version)));
    let mut executables: Vec<Executable> = Vec::new();
    for build in builds {
        let name = &build.0.executable;
        match executables.last_mut() {
            Some(last) if last.record.name == *name => last.builds.push(build),
            _ => {
                let record = rows.record(Record::Executable, ExecutableId::from_name(name).0)?;
                executables.push(Executable {
                    record: record.ok_or_else(|| {
                        InternalError::damaged(
                            "table records",
                            "a build's executable does not exist",
                        )
                    })?,
                    builds: vec![build],
                });
            }
        }
    }
    Ok(executables)
}

impl Chosen {
    fn counts(&self, rows: &Rows, executable: &ExecutableRecord) -> Result<Counts> {
        let record = &self.record;
        let costs = read_all_costs(rows, record, executable.nodes)?;
        let mut counts = Counts::read(rows, record, costs)?;
        counts.side_data.kept = kept::packed(rows, record.number)?;
        Ok(counts)
    }
}

/// Returns the nodes with costs in the selected profiles. Marks the frames of these nodes, their callers and
/// line costs as used.
fn mark(rows: &Rows, executable: &Executable, used: &mut [bool]) -> Result<NodeSet> {
    let record = &executable.record;
    let mut marks = NodeSet::empty(record.nodes)?;
    for chosen in executable.builds.iter().flat_map(|(_, profiles)| profiles) {
        let counts = chosen.counts(rows, record)?;
        marks.set_all(&counts.costs);
        for line in counts.lines.iter().flatten() {
            used[line.frame.get()] = true;
        }
    }
    let picked = SelectedNodes::new(&rows.node_packs(record)?, marks)?;
    for &frame in &picked.nodes.frames {
        used[frame.get()] = true;
    }
    Ok(picked.numbers.into_set())
}

/// Writes the used frames in order; returns the new number of each.
fn write_frames(rows: &Rows, used: &[bool], to: &mut NewStore<'_>) -> Result<Vec<FrameNo>> {
    let stored = rows.frames()?;
    let order = sort_chosen_frames(&stored, used);
    let frames: Vec<_> = order.iter().map(|&(frame, _)| frame).collect();
    FramePacks::new(FrameNo(0), &frames)?.write(&mut to.new);
    to.new.contents.frames = FrameNo(order.len() as u32);
    let mut numbers = vec![FrameNo::NONE; used.len()];
    for (number, (_, frame)) in FrameNo(0).onward().zip(order) {
        numbers[frame.get()] = number;
    }
    Ok(numbers)
}

/// Writes an executable, its nodes, its builds and their profiles.
fn write_executable(
    rows: &Rows,
    executable: &Executable,
    marks: NodeSet,
    frames: &[FrameNo],
    lists: &[Arc<[ModuleRef]>],
    to: &mut NewStore<'_>,
) -> Result<()> {
    let numbers = write_nodes(rows, &executable.record, marks, frames, to)?;
    for (record, profiles) in &executable.builds {
        let mut tally = BuildTotals::new(&record.build(), &mut to.new.contents)?;
        for chosen in profiles {
            let counts = chosen.counts(rows, &executable.record)?;
            let counts = counts.renumber(&numbers, frames);
            let modules = lists.get(chosen.record.modules.get()).ok_or_else(|| {
                InternalError::damaged("table records", "a profile's modules do not exist")
            })?;
            let profile = Profile {
                modules: modules.clone(),
                ..chosen.record.profile.clone()
            };
            let build = Build {
                executable: record.executable.clone(),
                version: record.version.clone(),
                gnu_build_id: chosen.record.gnu_build_id.clone(),
                revision: chosen.record.revision.clone(),
                commit: None,
            };
            let modules = to.modules(&profile)?;
            let reading = ReadingRecord {
                profile: chosen.id,
                from: if to.is_export {
                    ProfileOrigin::Exported
                } else {
                    chosen.from.clone()
                },
            };
            add(
                &mut to.new,
                &mut tally,
                &reading,
                &build,
                &profile,
                modules,
                &counts,
            )?;
            // Without this, an addition that was planned before an annotation would revert it.
            for (metric, value) in &profile.metrics {
                let history = next_history(to.new.contents.history, &value.to_le_bytes());
                to.new.contents.history = next_history(history, metric.as_bytes());
            }
            for (_, pack) in counts.side_data.columns(ProfileNo(0)) {
                to.new.contents.history = next_history(to.new.contents.history, &pack);
            }
            to.flush_if_full()?;
        }
        tally.write(&mut to.new)?;
    }
    Ok(())
}

/// Writes the marked nodes in preorder; returns the new number of each.
fn write_nodes(
    rows: &Rows,
    executable: &ExecutableRecord,
    marks: NodeSet,
    frames: &[FrameNo],
    to: &mut NewStore<'_>,
) -> Result<Vec<NodeNo>> {
    let picked = SelectedNodes::new(&rows.node_packs(executable)?, marks)?;
    let new_frames: Vec<FrameIx> = frames.iter().map(|frame| FrameIx(frame.0)).collect();
    let (tree, indices) = preorder(&picked.nodes, &new_frames);
    let nodes = NodeColumns::from_tree(&tree);
    let record = ExecutableRecord {
        name: executable.name.clone(),
        number: take_number(&mut to.new.contents.executables)?,
        nodes: NodeNo(nodes.len() as u32),
    };
    nodes::write_packs(&mut to.new, record.number, NodeNo(0), &nodes)?;
    let id = ExecutableId::from_name(&record.name);
    to.new.record(Record::Executable, id.0, &record)?;
    let number = |node| {
        if picked.numbers.has(node) {
            NodeNo(indices[picked.numbers.get(node).get()].0)
        } else {
            NodeNo::NONE
        }
    };
    Ok((0..executable.nodes.0).map(NodeNo).map(number).collect())
}

/// Copies the tags of the written builds.
fn write_tags(rows: &Rows, executables: &[Executable], to: &mut NewStore<'_>) -> Result<()> {
    let builds = executables.iter().flat_map(|executable| &executable.builds);
    let ids: HashSet<BuildId> = builds.map(|(record, _)| record.build().id()).collect();
    let mut tags = rows.tags()?;
    tags.retain(|tag| ids.contains(&tag.build()));
    to.tags = tags;
    Ok(())
}

/// Copies the metadata of commits that the selected profiles name.
fn write_commits(rows: &Rows, executables: &[Executable], to: &mut NewStore<'_>) -> Result<()> {
    let builds = executables.iter().flat_map(|executable| &executable.builds);
    let profiles = builds.flat_map(|(_, profiles)| profiles);
    let revisions = profiles.filter_map(|chosen| chosen.record.revision.as_ref());
    for commit in Commits::read(rows)?.find_named(revisions) {
        to.new
            .record(Record::Commit, address(&commit.hash), commit)?;
    }
    Ok(())
}

/// Copies the ids of profiles that the selected profiles replaced.
fn write_replaced(
    rows: &Rows,
    keep: &dyn Fn(ProfileId) -> bool,
    to: &mut NewStore<'_>,
) -> Result<()> {
    for RecordWithLocation { id, record, .. } in rows.records::<ProfileId>(Record::Replaced)? {
        if keep(record) {
            to.new.record(Record::Replaced, id, &record)?;
        }
    }
    Ok(())
}

/// A store that nobody else sees yet, so that it can be written in several transactions.
struct NewStore<'a> {
    database: &'a Database,
    /// Whether this is an export, which does not contain the origins of profiles.
    is_export: bool,
    new: NewRows,
    /// The numbers of module lists.
    modules: HashMap<Arc<[ModuleRef]>, ModulesNo>,
    tags: Vec<Tag>,
}

/// Bytes to collect before they are written.
const FLUSH_BYTES: u64 = 32 << 20;

impl<'a> NewStore<'a> {
    fn new(database: &'a Database, is_export: bool) -> Result<Self> {
        let contents = Rows::open(&database.begin_read()?)?.contents;
        Ok(NewStore {
            database,
            is_export,
            new: NewRows::new(contents),
            modules: HashMap::new(),
            tags: Vec::new(),
        })
    }

    fn modules(&mut self, profile: &Profile) -> Result<ModulesNo> {
        if let Some(&number) = self.modules.get(&profile.modules) {
            return Ok(number);
        }
        let number = plan_modules(&mut self.new, &profile.modules, |_| Ok(None))?;
        self.modules.insert(profile.modules.clone(), number);
        Ok(number)
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.new.bytes() < FLUSH_BYTES {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let transaction = self.database.begin_write()?;
        self.new.write(&transaction)?;
        tags::write(&transaction, &self.tags)?;
        transaction.commit()?;
        self.new = NewRows::new(self.new.contents);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Store;
    use crate::codec::Contents;
    use crate::test_profiles::add;

    fn contents(store: &Store) -> Contents {
        let snapshot = store.snapshot().unwrap();
        snapshot.read(|rows| Ok(rows.contents)).unwrap()
    }

    /// Otherwise an addition that was planned before the rewrite would be written into different packs.
    #[test]
    fn rewriting_changes_the_contents() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        add(&store, "main;a 3\n", "v1");
        store.compact().unwrap();
        add(&store, "main;b 4\n", "v2");
        let before = contents(&store);
        store.compact().unwrap();
        assert_ne!(before, contents(&store));
    }

    #[test]
    fn annotations_change_the_contents_of_a_rewritten_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        add(&store, "main;a 3\n", "v1");
        store.compact().unwrap();
        let before = contents(&store);
        let profile = store.snapshot().unwrap().builds().unwrap()[0].profiles[0].id;
        let metrics = [("seconds".to_owned(), 1.5)].into();
        store.annotate(&[(profile, metrics)].into(), false).unwrap();
        store.compact().unwrap();
        assert_ne!(before, contents(&store));
    }
}
