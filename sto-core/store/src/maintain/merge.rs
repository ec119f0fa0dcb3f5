//! Merges the profiles of one store into another.

use crate::codec::ProfileRecord;
use crate::error::InternalError;
use crate::guard::guarded;
use crate::numbers::ModulesNo;
use crate::read::builds::{build_of, module_list, profile_record};
use crate::read::commits::Commits;
use crate::read::counts::SideData;
use crate::read::cut::ExecutableTree;
use crate::read::packs::Frames;
use crate::read::rows::Rows;
use crate::tables::Record;
use crate::write::add::AddOutcome;
use crate::write::content_mismatch;
use crate::write::tags::Tag;
use crate::{Added, ProfileOrigin, Snapshot, Store, StoreError, StoredProfile, Writer, write};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use sto_model::Cancelled;
use sto_model::id::{BuildId, ExecutableId, ProfileId};
use sto_model::units::{Bytes, UnixSeconds};
use sto_model::{Build, ModuleRef, Origin, Profile};

/// The result or the progress of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merged {
    /// Number of profiles in the other store.
    pub profiles: usize,
    /// The added profiles, in order of addition.
    pub added: Vec<ProfileId>,
    /// Packed size of everything that was written for them.
    #[serde(rename = "stored_bytes")]
    pub stored: Bytes,
    /// Number of profiles that were already in this store; nothing was changed for them.
    pub already_stored: usize,
    /// The already stored profiles that have other metrics, another recording time or another revision in the other store. This
    /// store keeps its own. In ascending order of ids.
    pub different: Vec<ProfileId>,
    /// The profiles that were not added because this store has another profile of the same source, in ascending
    /// order of ids.
    pub conflicts: Vec<Conflict>,
    /// The profiles that could not be merged, by reason.
    pub left_out: Vec<LeftOut>,
    /// The added tags, as `EXE@TAG`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Tags that name another build in this store, which keeps its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_tags: Vec<String>,
}

/// Two different profiles that claim to be of the same source and build. Only a store that read the source
/// can know which one is right, and a run must count once, so the profile in this store stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The profile in the other store.
    pub there: ProfileId,
    /// The profile in this store, which stays.
    pub here: ProfileId,
    /// The store from which the profile in this store was merged, if it was.
    pub merged_from: Option<String>,
    /// Whether the source was read for this store. If not, and it was not merged either, this store was exported.
    pub read_here: bool,
    /// The differences: `modules`, `labels`, ..., `stacks or counts`.
    pub differ_in: Vec<String>,
}

/// Profiles that could not be merged or sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOut {
    /// The profiles; empty if the tags or the metadata of commits could not be merged.
    pub profiles: Vec<ProfileId>,
    /// Why they cannot be read from the other store (mostly [`StoreError::Damaged`]), which rule of this store they
    /// break ([`StoreError::Refused`]), or why the file with their name at a place is not theirs.
    pub why: String,
}

impl LeftOut {
    /// Creates a record of profiles that could not be merged or sent, and the reason.
    pub fn new(profiles: Vec<ProfileId>, why: impl ToString) -> LeftOut {
        let why = why.to_string();
        LeftOut { profiles, why }
    }
}

impl Merged {
    /// Number of the [`Merged::profiles`] that were processed.
    pub fn processed(&self) -> usize {
        self.added.len() + self.already_stored + self.conflicts.len() + self.profiles_left_out()
    }

    /// Number of profiles that could not be merged.
    pub fn profiles_left_out(&self) -> usize {
        self.left_out.iter().map(|out| out.profiles.len()).sum()
    }

    /// Records profiles that could not be merged, and the reason.
    pub fn leave_out(&mut self, profiles: Vec<ProfileId>, why: impl ToString) {
        self.left_out.push(LeftOut::new(profiles, why));
    }

    /// Adds the result for another part of the same source, whose profiles were already counted.
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
    /// Adds all profiles of another store that this one lacks, and then its tags. A tag that names
    /// another build in this store is not changed.
    ///
    /// The result equals a store into which all recordings were ingested. Each profile is added in its own
    /// transaction, the oldest recording of a build first, so after a failure the profiles before it
    /// are here, and merging again adds the others. A profile is left out if it is damaged, if its content
    /// does not match its id, or if this store has another profile of its source. So nothing in this store
    /// is changed by the claims of another. Merging again, or merging a store into itself, changes nothing.
    ///
    /// Other processes cannot read or write this store from the first addition to the last. Memory holds the
    /// stacks of one executable at a time. `progress` is called before each profile and at the end, and may
    /// cancel the merge, like [`CancelToken::check`](sto_model::CancelToken::check). A panic in it becomes an error.
    ///
    /// # Errors
    /// Returns an error if either store cannot be read at all, or this one cannot be written.
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
    /// Module lists that were already read, by number.
    modules: HashMap<ModulesNo, Arc<[ModuleRef]>>,
    /// Metadata of commits. If it cannot be read, profiles still have their revisions.
    commits: Result<Commits, InternalError>,
}

/// A profile of the source, without its stacks and counts.
struct Listed {
    id: ProfileId,
    /// The build, as described by this profile only.
    build: Build,
    /// The record, including the modules.
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
        // The snapshot would keep the writer waiting.
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
                let put = guarded(|| tree.profile(self.rows, *id, record))
                    .and_then(|interned| {
                        write::check_stored(*id, build, profile, &interned)?;
                        Ok(interned)
                    })
                    .map_err(|error| match error {
                        InternalError::Refused(_) => error.at(writer.store().path(), "write"),
                        error => self.error(error),
                    })
                    .map(|interned| {
                        let from = ProfileOrigin::Store(self.path.display().to_string());
                        let replaced = replaced.get(id).map_or(&[][..], Vec::as_slice);
                        writer.add_checked(*id, build, profile, &interned, (from, replaced))
                    });
                match put {
                    Ok(Ok(AddOutcome::Added(Added::New { stored, .. }))) => {
                        merged.added.push(*id);
                        merged.stored.0 += stored.0;
                    }
                    // Another process added it in the meantime.
                    Ok(Ok(AddOutcome::Added(_))) => merged.already_stored += 1,
                    // Another process added one of this source, or the other store has two.
                    Ok(Ok(AddOutcome::OtherReading(known))) => merged.conflicts.push(Conflict {
                        there: *id,
                        here: known.profile,
                        merged_from: known.from.store().map(str::to_owned),
                        read_here: known.from == ProfileOrigin::ReadHere,
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

    /// Adds the metadata of commits that profiles of this store already named.
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

    /// Adds the tags. Their builds already exist, because the profiles were added before.
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

    /// Lists the missing profiles by executable and build, in the order of [`Snapshot::builds`], oldest
    /// recording first. Most profiles were first added in this order, and it packs best.
    fn list(
        &mut self,
        (snapshot, here): (&Snapshot, &HashMap<ProfileId, &StoredProfile>),
        merged: &mut Merged,
    ) -> Result<Vec<Listed>, StoreError> {
        let ids = self.rows.ids(Record::Profile);
        let ids = ids.map_err(|error| self.error(error))?;
        if ids.len() != self.rows.contents.profiles as usize {
            let what = "the number of profiles differs from the store's contents";
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
            let recorded = record.profile.recorded_sort_key();
            let first = first_recorded
                .entry(record.profile.build)
                .or_insert(recorded);
            *first = recorded.min(*first);
            // Other stores may claim that any profile was replaced.
            let replaced_by = replaced.get(&id).and_then(|by| here.get(by));
            let is_replaced = replaced_by.is_some_and(|by| {
                by.profile.build_recording_id() == record.profile.build_recording_id()
            });
            match here.get(&id) {
                None if is_replaced => merged.already_stored += 1,
                None => new.push(listed),
                // The stored content matches the id; only data that the id does not cover can differ.
                Some(known) => match differences(known, record)[..] {
                    [] => {
                        let side_data = match guarded(|| SideData::read(self.rows, record.number)) {
                            Ok(side_data) => side_data,
                            Err(error) => {
                                merged.leave_out(vec![id], self.error(error));
                                continue;
                            }
                        };
                        merged.already_stored += 1;
                        let is_same = known.profile.metrics == record.profile.metrics
                            && known.profile.origin.recorded == record.profile.origin.recorded
                            && known.revision == record.revision
                            && side_data.is_same(&snapshot.read(|rows| {
                                SideData::read(rows, profile_record(rows, id)?.number)
                            })?);
                        merged.different.extend((!is_same).then_some(id));
                    }
                    _ => merged.leave_out(vec![id], self.error(content_mismatch(id))),
                },
            }
        }
        new.sort_by_cached_key(|listed| {
            let (build, profile) = (&listed.build, &listed.record.profile);
            let first = first_recorded[&profile.build];
            let names = (build.executable.clone(), first, build.version.clone());
            (names, profile.recorded_sort_key(), listed.id)
        });
        Ok(new)
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
                    .and_then(|known| known.find_by_revision(record.revision.as_ref())),
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
            .record(Record::Executable, ExecutableId::from_name(name).0)?
            .ok_or_else(|| {
                InternalError::damaged("table records", "an executable does not exist")
            })?;
        ExecutableTree::unpack(self.rows, frames, &executable)
    }

    fn error(&self, error: InternalError) -> StoreError {
        error.at(self.path, "read")
    }
}

/// The data that a profile's id covers and that differs between two profiles, without comparing their stacks
/// and counts.
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
