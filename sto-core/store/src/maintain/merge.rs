//! Union of stores: the profiles of one go into another.

use crate::codec::ProfileRecord;
use crate::error::InternalError;
use crate::guard::guarded;
use crate::numbers::ModulesNo;
use crate::read::builds::{build_of, module_list, profile_record};
use crate::read::commits::Commits;
use crate::read::counts::Beside;
use crate::read::cut::ExecutableTree;
use crate::read::packs::Frames;
use crate::read::rows::{Rows, record_location};
use crate::tables::Record;
use crate::write::add::Put;
use crate::write::tags::Tag;
use crate::{Added, CameFrom, Snapshot, Store, StoreError, StoredProfile, Writer, write};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use sto_model::Cancelled;
use sto_model::id::{BuildId, ExecutableId, ProfileId};
use sto_model::units::{Bytes, UnixSeconds};
use sto_model::{Build, ModuleRef, Origin, Profile};

/// What a merge did, or has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merged {
    /// Number of profiles that the other store has.
    pub profiles: usize,
    /// The profiles that went in, in the order in which they did.
    pub added: Vec<ProfileId>,
    /// Packed size of what was written for them.
    #[serde(rename = "stored_bytes")]
    pub stored: Bytes,
    /// Number of profiles that stood here already; nothing was changed for them.
    pub already_stored: usize,
    /// Those of them that have other metrics, another time of recording or another revision there. They stay
    /// as they are here. In the order of their ids.
    pub different: Vec<ProfileId>,
    /// The profiles that claim a source of which another profile stands here. They did not go in, in the
    /// order of their ids.
    pub conflicts: Vec<Conflict>,
    /// The profiles that could not be merged, by reason.
    pub left_out: Vec<LeftOut>,
    /// The tags that came with them, as `EXE@TAG`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Tags there that stand for another build here, and stay as they are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_tags: Vec<String>,
}

/// Two profiles that claim to be of the same source and build, and are not the same. Which of them is, no
/// store can know that did not read the source: the one that is here counts, as a run counts once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The profile there.
    pub there: ProfileId,
    /// The profile here, which stays.
    pub here: ProfileId,
    /// The store that that one was merged from.
    pub merged_from: Option<String>,
    /// Whether that one was read here; where it was neither, it came when this store was exported from another.
    pub read_here: bool,
    /// What is not the same of them: `modules`, `labels`, ..., `stacks or counts`.
    pub differ_in: Vec<String>,
}

/// Profiles that could not be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOut {
    /// The profiles; none where it is the tags, or what is known of commits.
    pub profiles: Vec<ProfileId>,
    /// Why the other store cannot give them (mostly [`StoreError::Damaged`]), or which rule they
    /// break here ([`StoreError::Refused`]).
    pub why: String,
}

impl Merged {
    /// How many of [`Merged::profiles`] were dealt with.
    pub fn done(&self) -> usize {
        self.added.len() + self.already_stored + self.conflicts.len() + self.profiles_left_out()
    }

    /// Number of profiles that could not be merged.
    pub fn profiles_left_out(&self) -> usize {
        self.left_out.iter().map(|out| out.profiles.len()).sum()
    }

    /// Profiles that could not go in, and why.
    pub fn leave_out(&mut self, profiles: Vec<ProfileId>, why: impl ToString) {
        let why = why.to_string();
        self.left_out.push(LeftOut { profiles, why });
    }

    /// What became of the profiles of another part of the same source, which were counted before.
    pub fn extend(&mut self, part: Merged) {
        self.added.extend(part.added);
        self.stored.0 += part.stored.0;
        self.already_stored += part.already_stored;
        self.different.extend(part.different);
        self.conflicts.extend(part.conflicts);
        self.left_out.extend(part.left_out);
        self.tags.extend(part.tags);
        self.other_tags.extend(part.other_tags);
    }
}

impl Store {
    /// Adds every profile of another store that is not here yet, and then its tags. A tag that stands
    /// for another build here stays as it is here.
    ///
    /// The result is the store into which all recordings were ingested. Each profile goes in in one
    /// transaction, the oldest recording of a build first: after a failure those before it are
    /// here, and merging again adds the others. A profile that is damaged in the other store, or whose
    /// content is not that of its id, is left out. So is one of a source that another profile
    /// stands for here: nothing that is here is changed by what others claim. Merging again, or a store
    /// into itself, changes nothing.
    ///
    /// Nobody else reads or writes this store from the first addition to the last. Memory holds the
    /// stacks of one executable at a time. `progress` is called before each profile, and at the end, and may end
    /// it there, as by [`Cancel::check`](sto_model::Cancel::check); a panic in it becomes an error.
    ///
    /// # Errors
    /// Where either store cannot be read at all, or this one cannot be written.
    pub fn merge(
        &self,
        other: &Snapshot,
        progress: &mut dyn FnMut(&Merged) -> Result<(), Cancelled>,
    ) -> Result<Merged, StoreError> {
        let snapshot = self.snapshot()?;
        let here = snapshot.builds()?;
        let here = here.iter().flat_map(|build| &build.profiles);
        let here: HashMap<_, _> = here.map(|profile| (profile.id, profile)).collect();
        other.read(|rows| {
            let mut source = Source {
                rows,
                path: other.path(),
                modules: HashMap::new(),
                commits: guarded(|| Commits::read(rows)),
            };
            let merged = source.merge_into(&mut self.writer(), (snapshot, &here), progress);
            Ok(merged.and_then(|mut merged| {
                source.merge_commits(self, &mut merged)?;
                source.merge_tags(self, merged)
            }))
        })?
    }
}

/// The store that is merged into another.
struct Source<'a> {
    rows: &'a Rows,
    path: &'a Path,
    /// Module lists that were read already, by number.
    modules: HashMap<ModulesNo, Arc<[ModuleRef]>>,
    /// What it knows of commits; where that cannot be read, profiles have their revision all the same.
    commits: Result<Commits, InternalError>,
}

/// A profile of the source, but for its stacks and counts.
struct Listed {
    id: ProfileId,
    /// Its build, as this profile alone says.
    build: Build,
    /// With its modules.
    record: ProfileRecord,
}

impl Source<'_> {
    fn merge_into(
        &mut self,
        writer: &mut Writer<'_>,
        (snapshot, here): (Snapshot, &HashMap<ProfileId, &StoredProfile>),
        progress: &mut dyn FnMut(&Merged) -> Result<(), Cancelled>,
    ) -> Result<Merged, StoreError> {
        let mut merged = Merged::default();
        let new = self.list((&snapshot, here), &mut merged)?;
        // Nobody may read what is written to.
        drop(snapshot);
        if new.is_empty() {
            progress(&merged)?;
            return Ok(merged);
        }
        let frames = self.rows.frames().map_err(|error| self.error(error))?;
        for profiles in new.chunk_by(|a, b| a.build.executable == b.build.executable) {
            let read = guarded(|| {
                let tree = self.unpack(&profiles[0].build.executable, &frames)?;
                Ok((tree, self.rows.replaced()?))
            });
            let (tree, replaced) = match read {
                Ok(read) => read,
                Err(error) => {
                    let ids = profiles.iter().map(|profile| profile.id).collect();
                    merged.leave_out(ids, self.error(error));
                    continue;
                }
            };
            for Listed { id, build, record } in profiles {
                progress(&merged)?;
                let profile = &record.profile;
                let put = guarded(|| tree.profile(self.rows, record))
                    .map_err(|error| self.error(error))
                    .and_then(|interned| {
                        write::check(build, profile, &interned)
                            .map_err(|error| error.at(writer.store().path(), "write"))?;
                        if ProfileId::of(build, profile, &interned) != *id {
                            return Err(self.error(not_its_content(*id)));
                        }
                        let from = CameFrom::Store(self.path.display().to_string());
                        let replaced = replaced.get(id).map_or(&[][..], Vec::as_slice);
                        Ok(writer.put(*id, build, profile, &interned, (from, replaced)))
                    });
                match put {
                    Ok(Ok(Put::Added(Added::New { stored, .. }))) => {
                        merged.added.push(*id);
                        merged.stored.0 += stored.0;
                    }
                    // Somebody else was quicker.
                    Ok(Ok(Put::Added(_))) => merged.already_stored += 1,
                    // So it was, or the other store has two of a source.
                    Ok(Ok(Put::OtherReading(known))) => merged.conflicts.push(Conflict {
                        there: *id,
                        here: known.profile,
                        merged_from: known.from.store().map(str::to_owned),
                        read_here: known.from == CameFrom::ReadHere,
                        differ_in: match here
                            .get(&known.profile)
                            .map(|here| differences(here, record))
                        {
                            Some(fields) if fields.is_empty() => {
                                vec!["stacks or counts".to_owned()]
                            }
                            fields => fields.unwrap_or_default(),
                        },
                    }),
                    Err(why) | Ok(Err(why @ StoreError::Refused { .. })) => {
                        merged.leave_out(vec![*id], why);
                    }
                    Ok(Err(error)) => return Err(error),
                }
            }
        }
        merged.conflicts.sort_by_key(|conflict| conflict.there);
        progress(&merged)?;
        Ok(merged)
    }

    /// What is known there of commits that profiles name which were here before.
    fn merge_commits(&mut self, store: &Store, merged: &mut Merged) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.commits, Ok(Commits::default())) {
            Ok(there) if there.is_empty() => Ok(()),
            Ok(there) => store.add_commits(there),
            Err(error) => {
                merged.leave_out(Vec::new(), self.error(error));
                Ok(())
            }
        }
    }

    /// Profiles have gone in, so that their builds are here.
    fn merge_tags(&self, store: &Store, mut merged: Merged) -> Result<Merged, StoreError> {
        let there = match guarded(|| self.rows.tags()) {
            Ok(tags) if tags.is_empty() => return Ok(merged),
            Ok(tags) => tags,
            Err(error) => {
                merged.leave_out(Vec::new(), self.error(error));
                return Ok(merged);
            }
        };
        let names = |tags: Vec<Tag>| tags.iter().map(Tag::to_string).collect();
        merged.tags = names(store.add_tags(&there)?);
        let here = store.snapshot()?.read(Rows::tags)?;
        let is_other = |tag: &Tag| {
            let is_same_name =
                |known: &&Tag| (&known.executable, &known.name) == (&tag.executable, &tag.name);
            let known = here.iter().find(is_same_name);
            known.is_some_and(|known| known.version != tag.version)
        };
        merged.other_tags = names(there.into_iter().filter(is_other).collect());
        Ok(merged)
    }

    /// The profiles that are not here yet: by executable, builds as [`Snapshot::builds`] lists them,
    /// oldest recording first. That is how most profiles once went in, and packs best.
    fn list(
        &mut self,
        (snapshot, here): (&Snapshot, &HashMap<ProfileId, &StoredProfile>),
        merged: &mut Merged,
    ) -> Result<Vec<Listed>, StoreError> {
        let ids = self.rows.ids(Record::Profile);
        let ids = ids.map_err(|error| self.error(error))?;
        if ids.len() != self.rows.contents.profiles as usize {
            let what = "it has not as many profiles as it should";
            return Err(self.error(InternalError::damaged("table records", what)));
        }
        merged.profiles = ids.len();
        let replaced = snapshot.replaced()?;
        let mut new = Vec::new();
        let mut first_recorded: HashMap<BuildId, UnixSeconds> = HashMap::new();
        for id in ids.into_iter().map(ProfileId) {
            let listed = match guarded(|| self.listed(id)) {
                Ok(listed) => listed,
                Err(error) => {
                    merged.leave_out(vec![id], self.error(error));
                    continue;
                }
            };
            let record = &listed.record;
            let recorded = record.profile.order_of_recording();
            let first = first_recorded
                .entry(record.profile.build)
                .or_insert(recorded);
            *first = recorded.min(*first);
            match here.get(&id) {
                None if replaced.contains_key(&id) => merged.already_stored += 1,
                None => new.push(listed),
                // What its id vouches for is here; only what it does not may be another.
                Some(known) => match differences(known, record)[..] {
                    [] => {
                        merged.already_stored += 1;
                        let is_same = known.profile.metrics == record.profile.metrics
                            && known.profile.origin.recorded == record.profile.origin.recorded
                            && known.revision == record.revision
                            && self.has_the_same_beside(snapshot, id, record)?;
                        merged.different.extend((!is_same).then_some(id));
                    }
                    _ => merged.leave_out(vec![id], self.error(not_its_content(id))),
                },
            }
        }
        new.sort_by_cached_key(|listed| {
            let (build, profile) = (&listed.build, &listed.record.profile);
            let first = first_recorded[&profile.build];
            let names = (build.executable.clone(), first, build.version.clone());
            (names, profile.order_of_recording(), listed.id)
        });
        Ok(new)
    }

    /// Whether a profile that is in both stores has the same metrics and calls over time in the other one.
    fn has_the_same_beside(
        &self,
        other: &Snapshot,
        id: ProfileId,
        record: &ProfileRecord,
    ) -> Result<bool, StoreError> {
        let here = guarded(|| Beside::read(self.rows, record.number));
        let here = here.map_err(|error| self.error(error))?;
        let there = other.read(|rows| Beside::read(rows, profile_record(rows, id)?.number))?;
        Ok(here.is_same(&there))
    }

    fn listed(&mut self, id: ProfileId) -> Result<Listed, InternalError> {
        let mut record = profile_record(self.rows, id)?;
        let build = build_of(self.rows, &record)?;
        record.profile.modules = match self.modules.entry(record.modules) {
            Entry::Occupied(list) => list.get().clone(),
            Entry::Vacant(list) => list.insert(module_list(self.rows, record.modules)?).clone(),
        };
        Ok(Listed {
            id,
            build: Build {
                executable: build.executable,
                version: build.version,
                gnu_build_id: record.gnu_build_id.clone(),
                revision: record.revision.clone(),
                commit: self
                    .commits
                    .as_ref()
                    .ok()
                    .and_then(|known| known.of_revision(record.revision.as_ref())),
            },
            record,
        })
    }

    fn unpack<'f>(
        &self,
        name: &str,
        frames: &'f Frames,
    ) -> Result<ExecutableTree<'f>, InternalError> {
        let executable = self
            .rows
            .record(Record::Executable, ExecutableId::of(name).0)?
            .ok_or_else(|| {
                InternalError::damaged("table records", "an executable does not exist")
            })?;
        ExecutableTree::unpack(self.rows, frames, &executable)
    }

    fn error(&self, error: InternalError) -> StoreError {
        error.at(self.path, "read")
    }
}

/// The corruption of a profile whose content is another than its id says.
pub(crate) fn not_its_content(id: ProfileId) -> InternalError {
    let location = record_location(Record::Profile, id.0);
    InternalError::damaged(location, "it is not what its content address says")
}

/// What a content address vouches for and is not the same of two profiles; their stacks and counts are not
/// looked at.
fn differences(here: &StoredProfile, there: &ProfileRecord) -> Vec<String> {
    let (a, b) = (&here.profile, &there.profile);
    let of_origin = |profile: &Profile| Origin {
        recorded: None,
        ..profile.origin.clone()
    };
    let fields = [
        ("GNU build id", here.gnu_build_id == there.gnu_build_id),
        ("slices", (here.slices > Bytes(0)) == (there.slices > 0)),
        ("size", a.source_bytes == b.source_bytes),
        ("format", a.format == b.format),
        ("duration or machine", of_origin(a) == of_origin(b)),
        ("resolved samples", a.quality == b.quality),
        ("granularity", a.granularity == b.granularity),
        ("events", a.sample_types == b.sample_types),
        ("modules", a.modules == b.modules),
        ("benchmark", a.benchmark == b.benchmark),
        ("labels", a.labels == b.labels),
    ];
    let differ = fields.into_iter().filter(|&(_, is_same)| !is_same);
    differ.map(|(field, _)| field.to_owned()).collect()
}
