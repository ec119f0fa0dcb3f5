//! Checks the records: their checksums, ids and numbers, and that they agree with each
//! other.

use super::corruptions::{Concerns, Corruption, Corruptions};
use crate::ProfileOrigin;
use crate::codec::{
    BuildRecord, CommitRecord, Contents, EarliestFact, ExecutableRecord, ProfileRecord,
    ReadingRecord,
};
use crate::error::Result;
use crate::guard::guarded;
use crate::numbers::ModulesNo;
use crate::read::commits::address;
use crate::read::rows::{Rows, read_record, record_location};
use crate::tables::Record;
use hashbrown::HashSet;
use serde::Deserialize;
use std::collections::BTreeMap;
use sto_model::id::{BuildId, BuildRecordingId, ExecutableId, ProfileId};

/// All records that can be read.
#[derive(Default)]
pub(super) struct Records {
    /// Number of records, readable or not.
    pub(super) entries: u64,
    pub(super) executables: BTreeMap<ExecutableId, ExecutableRecord>,
    pub(super) builds: BTreeMap<BuildId, BuildRecord>,
    pub(super) profiles: BTreeMap<ProfileId, ProfileRecord>,
    /// Numbers of module lists by digest.
    pub(super) lists: BTreeMap<[u8; 16], ModulesNo>,
    readings: BTreeMap<BuildRecordingId, ReadingRecord>,
    /// By record id.
    commits: BTreeMap<[u8; 16], CommitRecord>,
    /// The replacing profile by the replaced one.
    replaced: BTreeMap<ProfileId, ProfileId>,
    /// The kinds of records that could not be read.
    broken: Vec<Record>,
}

/// The profiles of each build.
pub(super) type ByBuild<'a> = BTreeMap<BuildId, Vec<(ProfileId, &'a ProfileRecord)>>;

impl Records {
    /// Reads the table of records.
    pub(super) fn read(rows: &Rows, damages: &mut Corruptions) -> Self {
        let mut records = Records::default();
        let mut broken = Vec::new();
        let seen = guarded(|| {
            rows.each_record(|(kind, id), stored| {
                records.entries += 1;
                match Record::from_number(kind) {
                    Some(kind) => {
                        if let Err(error) = records.take(kind, id, stored) {
                            broken.push((kind, id, error));
                        }
                    }
                    None => damages.add(
                        format!("table records, kind {kind} {}", ProfileId(id)),
                        "the kind of this record is unknown",
                        Concerns::Nothing,
                    ),
                }
            })
        });
        damages.record_error(seen, Concerns::Everything);
        for (kind, id, error) in broken {
            records.broken.push(kind);
            let concerns = records.concerned(kind, id);
            damages.record_error::<()>(Err(error), concerns);
        }
        records
    }

    fn take(&mut self, kind: Record, id: [u8; 16], stored: &[u8]) -> Result<()> {
        fn add<K: Ord, T: for<'de> Deserialize<'de>>(
            to: &mut BTreeMap<K, T>,
            key: impl Fn([u8; 16]) -> K,
            (kind, id, stored): (Record, [u8; 16], &[u8]),
        ) -> Result<()> {
            to.insert(key(id), read_record(kind, id, stored)?);
            Ok(())
        }
        let entry = (kind, id, stored);
        match kind {
            Record::Executable => add(&mut self.executables, ExecutableId, entry),
            Record::Build => add(&mut self.builds, BuildId, entry),
            Record::Profile => add(&mut self.profiles, ProfileId, entry),
            Record::ModuleList => add(&mut self.lists, |id| id, entry),
            Record::Reading => add(&mut self.readings, BuildRecordingId, entry),
            Record::Commit => add(&mut self.commits, |id| id, entry),
            Record::Replaced => add(&mut self.replaced, ProfileId, entry),
        }
    }

    /// The data that a record concerns, even if the record cannot be read.
    fn concerned(&self, kind: Record, id: [u8; 16]) -> Concerns {
        match kind {
            Record::Executable => {
                let name = self.executables.get(&ExecutableId(id)).map(|r| &r.name);
                let mut named = self.builds.values().map(|build| &build.executable);
                let name =
                    name.or_else(|| named.find(|name| ExecutableId::from_name(name).0 == id));
                name.map_or(Concerns::Nothing, |name| Concerns::Executable {
                    executable: name.clone(),
                })
            }
            Record::Build => match self.builds.get(&BuildId(id)) {
                Some(build) => Concerns::build(build),
                None => self.profiles_where(|profile| profile.profile.build.0 == id),
            },
            Record::Profile => Concerns::Profiles {
                profiles: vec![ProfileId(id)],
            },
            Record::ModuleList => match self.lists.get(&id) {
                Some(&number) => self.profiles_where(|profile| profile.modules == number),
                None => Concerns::Nothing,
            },
            Record::Reading => {
                self.profiles_where(|profile| profile.profile.build_recording_id().0 == id)
            }
            // Without its commit, a profile still has its revision.
            Record::Commit | Record::Replaced => Concerns::Nothing,
        }
    }

    /// The profiles of each build, in ascending order of ids.
    pub(super) fn by_build(&self) -> ByBuild<'_> {
        let mut builds = ByBuild::new();
        for (&id, record) in &self.profiles {
            builds
                .entry(record.profile.build)
                .or_default()
                .push((id, record));
        }
        builds
    }

    /// The profiles that fulfil a condition; [`Concerns::Nothing`] if there are none.
    pub(super) fn profiles_where(&self, is_so: impl Fn(&ProfileRecord) -> bool) -> Concerns {
        let ids = self.profiles.iter().filter(|(_, record)| is_so(record));
        match ids.map(|(&id, _)| id).collect::<Vec<_>>() {
            ids if ids.is_empty() => Concerns::Nothing,
            profiles => Concerns::Profiles { profiles },
        }
    }

    /// Number of profiles that no damage concerns.
    pub(super) fn sound_profiles(&self, damages: &[Corruption]) -> u64 {
        let concerned: HashSet<&Concerns> = damages.iter().map(|damage| &damage.concerns).collect();
        if concerned.contains(&Concerns::Everything) {
            return 0;
        }
        let listed: HashSet<ProfileId> = concerned
            .iter()
            .filter_map(|concerns| match concerns {
                Concerns::Profiles { profiles } => Some(profiles),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        let is_sound = |(id, record): &(&ProfileId, &ProfileRecord)| {
            let build = self.builds.get(&record.profile.build);
            !listed.contains(*id)
                && build.is_some_and(|build| {
                    let executable = Concerns::Executable {
                        executable: build.executable.clone(),
                    };
                    !concerned.contains(&executable) && !concerned.contains(&Concerns::build(build))
                })
        };
        self.profiles.iter().filter(is_sound).count() as u64
    }

    /// Checks everything that only needs records.
    pub(super) fn check(
        &self,
        by_build: &ByBuild<'_>,
        contents: &Contents,
        damages: &mut Corruptions,
    ) {
        let executables = self.executables.iter().map(|(id, r)| (id.0, r.number.0));
        let counts = (contents.executables.0, contents.executables.0);
        self.check_numbers(Record::Executable, executables, counts, damages);
        let builds = self.builds.iter().map(|(id, r)| (id.0, r.number.0));
        let counts = (contents.builds, contents.next_build.0);
        self.check_numbers(Record::Build, builds, counts, damages);
        let profiles = self.profiles.iter().map(|(id, r)| (id.0, r.number.0));
        let counts = (contents.profiles, contents.next_profile.0);
        self.check_numbers(Record::Profile, profiles, counts, damages);
        let lists = self.lists.iter().map(|(&id, &number)| (id, number.0));
        let counts = (contents.modules.0, contents.modules.0);
        self.check_numbers(Record::ModuleList, lists, counts, damages);

        for (id, executable) in &self.executables {
            if ExecutableId::from_name(&executable.name) != *id {
                let concerns = Concerns::Executable {
                    executable: executable.name.clone(),
                };
                damages.add(
                    record_location(Record::Executable, id.0),
                    OTHER_ID,
                    concerns,
                );
            }
        }
        for (&id, build) in &self.builds {
            let profiles = by_build.get(&id).map_or(&[][..], Vec::as_slice);
            self.check_build(id, build, profiles, damages);
        }
        for (&id, profile) in &self.profiles {
            let mut wrong = |what: &str| {
                let location = record_location(Record::Profile, id.0);
                damages.add(location, what, Concerns::Profiles { profiles: vec![id] });
            };
            if !self.builds.contains_key(&profile.profile.build) {
                wrong("its build does not exist");
            }
            if !profile.profile.modules.is_empty() {
                wrong("its record contains a module list");
            }
            match self.readings.get(&profile.profile.build_recording_id()) {
                None => wrong("its source has no reading record"),
                Some(known) if known.profile != id => {
                    let from = match &known.from {
                        ProfileOrigin::ReadHere => "was read here".to_owned(),
                        ProfileOrigin::Store(path) => format!("came from {path}"),
                        ProfileOrigin::Exported => "was exported".to_owned(),
                    };
                    let other = known.profile;
                    wrong(&format!(
                        "there is another profile of its source, {other}, which {from}"
                    ));
                }
                Some(_) => {}
            }
        }
        for (&id, reading) in &self.readings {
            let profile = self.profiles.get(&reading.profile);
            if profile.is_none_or(|profile| profile.profile.build_recording_id() != id) {
                let location = record_location(Record::Reading, id.0);
                let what = "there is no profile of this source";
                damages.add(location, what, Concerns::Nothing);
            }
        }
        for (&id, by) in &self.replaced {
            if !self.profiles.contains_key(by) || self.profiles.contains_key(&id) {
                let location = record_location(Record::Replaced, id.0);
                let what = "the profile that replaced it does not exist, or it still exists itself";
                damages.add(location, what, Concerns::Nothing);
            }
        }
        for (&id, commit) in &self.commits {
            if address(&commit.hash) != id {
                let location = record_location(Record::Commit, id);
                damages.add(location, OTHER_ID, Concerns::Nothing);
            }
        }
    }

    fn check_build(
        &self,
        id: BuildId,
        build: &BuildRecord,
        profiles: &[(ProfileId, &ProfileRecord)],
        damages: &mut Corruptions,
    ) {
        let mut wrong = |what: &str| {
            damages.add(
                record_location(Record::Build, id.0),
                what,
                Concerns::build(build),
            );
        };
        let executable = ExecutableId::from_name(&build.executable);
        if BuildId::new(executable, &build.version) != id {
            wrong(OTHER_ID);
        }
        if !self.executables.contains_key(&executable) {
            wrong("its executable does not exist");
        }
        if profiles.len() != build.profiles as usize {
            wrong("its profiles differ in number from its record");
        }
        let samples = profiles
            .iter()
            .map(|(_, record)| record.profile.quality.samples)
            .try_fold(0u64, u64::checked_add);
        if samples != Some(build.samples) {
            wrong("its samples differ from those of its profiles");
        }
        if known(profiles, |record| record.gnu_build_id.as_ref()) != build.gnu_build_id {
            wrong("its GNU build id differs from its profiles");
        }
        if known(profiles, |record| record.revision.as_ref()) != build.revision {
            wrong("its revision differs from its profiles");
        }
    }

    /// Checks that the number of things of a kind is as expected, and that their numbers are distinct and below
    /// the next free one.
    fn check_numbers(
        &self,
        kind: Record,
        numbers: impl Iterator<Item = ([u8; 16], u32)>,
        (count, next): (u32, u32),
        damages: &mut Corruptions,
    ) {
        let mut taken = HashSet::new();
        for (id, number) in numbers {
            let what = if number >= next {
                format!("its number is {number}, but the next free one is {next}")
            } else if !taken.insert(number) {
                format!("its number, {number}, is also another one's")
            } else {
                continue;
            };
            damages.add(record_location(kind, id), what, self.concerned(kind, id));
        }
        let broken = self.broken.iter().filter(|&&broken| broken == kind).count();
        let (found, count) = (taken.len() + broken, count as usize);
        let what = if found < count {
            format!("{} of {count} records are missing", count - found)
        } else {
            format!("there are {found} records instead of {count}")
        };
        if found != count {
            let location = format!("table records, {}", kind.name());
            damages.add(location, what, Concerns::Nothing);
        }
    }
}

const OTHER_ID: &str = "its content does not match its id";

/// A fact about a build from its profiles; the earliest recording takes precedence.
fn known<T: Clone>(
    profiles: &[(ProfileId, &ProfileRecord)],
    value: impl Fn(&ProfileRecord) -> Option<&T>,
) -> Option<EarliestFact<T>> {
    let all = profiles.iter().filter_map(|&(profile, record)| {
        Some(EarliestFact {
            value: value(record)?.clone(),
            recorded: record.profile.recorded_sort_key().0,
            profile,
        })
    });
    all.min_by_key(|known| (known.recorded, known.profile))
}

/// Checks the list of tags, which concerns no profile.
pub(super) fn tags(rows: &Rows, damages: &mut Corruptions) {
    let tags = damages.record_error(guarded(|| rows.tags()), Concerns::Nothing);
    for tag in tags.into_iter().flatten() {
        let exists = guarded(|| rows.has_record(Record::Build, tag.build().0));
        if damages.record_error(exists, Concerns::Nothing) == Some(false) {
            let location = format!("table meta, tag {} of {}", tag.name, tag.executable);
            damages.add(location, "its build does not exist", Concerns::Nothing);
        }
    }
}
