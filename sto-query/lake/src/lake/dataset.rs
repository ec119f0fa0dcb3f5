//! The files of a dataset: its manifest, and those of profiles, which are written once.

use super::partition::partition;
use super::profile::{Record, add_rest, profile, record};
use super::read::{damaged, guarded};
use super::sample::{ProfileToAdd, sample};
use super::stacks::stacks;
use super::{LAYOUT, LakeError, VERSION};
use crate::places::{Machine, Place};
use serde::{Deserialize, Serialize};
use std::path::Path;
use sto_model::id::ProfileId;
use sto_model::printable;
use sto_model::tree::Interned;
use sto_model::units::Bytes;
use sto_model::{Build, Profile};

/// Where layout and version stand.
const MANIFEST: &str = "manifest.json";

/// Most bytes of a manifest.
const MANIFEST_BYTES: Bytes = Bytes(1 << 16);

/// Most bytes of a file that is read: those of a run.
const FILE_BYTES: Bytes = Bytes(4 << 30);

/// How names of files end, after their profile.
const EXTENSION: &str = ".parquet";

#[derive(Serialize, Deserialize)]
struct Manifest {
    layout: String,
    version: u64,
}

/// The folders of a dataset.
#[derive(Clone, Copy)]
enum Table {
    Sample,
    Profile,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Table::Sample => "sample",
            Table::Profile => "profile",
        }
    }
}

/// A profile that a dataset has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The folders of its build.
    partition: String,
    /// The profile.
    pub id: ProfileId,
}

impl Found {
    fn of(build: &Build, id: ProfileId) -> Found {
        let partition = partition(build);
        Found { partition, id }
    }
}

/// A dataset, of the layout and version that is written.
#[derive(Debug)]
pub struct Dataset {
    place: Place,
}

impl Dataset {
    /// The dataset in this place, as [`Place::parse`] takes it.
    ///
    /// # Errors
    /// Where there is none, it has another layout or version, or the place refuses.
    pub fn open(place: &Path, machine: &Machine) -> Result<Dataset, LakeError> {
        let dataset = Dataset::at(place, machine)?;
        match dataset.is_there()? {
            true => Ok(dataset),
            false => Err(LakeError::NotFound(dataset.place.to_string())),
        }
    }

    /// The same; where there is none, the place becomes one.
    ///
    /// # Errors
    /// As [`Dataset::open`].
    pub fn open_or_create(place: &Path, machine: &Machine) -> Result<Dataset, LakeError> {
        let dataset = Dataset::at(place, machine)?;
        if !dataset.is_there()? {
            let manifest = format!("{{\"layout\":\"{LAYOUT}\",\"version\":{VERSION}}}\n");
            dataset.place.create(MANIFEST, manifest.as_bytes())?;
        }
        Ok(dataset)
    }

    fn at(place: &Path, machine: &Machine) -> Result<Dataset, LakeError> {
        let place = Place::parse(place.as_os_str(), machine)?;
        Ok(Dataset { place })
    }

    fn is_there(&self) -> Result<bool, LakeError> {
        let Some(bytes) = self.place.read(MANIFEST, MANIFEST_BYTES)? else {
            return Ok(false);
        };
        match serde_json::from_slice(&bytes) {
            Ok(Manifest { layout, version }) if layout == LAYOUT && version == VERSION => Ok(true),
            Ok(Manifest { layout, version }) => Err(LakeError::OtherVersion {
                file: self.called(MANIFEST),
                layout,
                version,
            }),
            Err(source) => Err(LakeError::NoManifest {
                file: self.called(MANIFEST),
                source,
            }),
        }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether it has all of a profile of a build.
    ///
    /// # Errors
    /// Where the place refuses.
    pub fn has(&self, build: &Build, run: ProfileId) -> Result<bool, LakeError> {
        let found = Found::of(build, run);
        Ok(self.place.has(&name(Table::Profile, &found))?)
    }

    /// Adds what it lacks of a profile, and returns how many bytes that took.
    ///
    /// # Errors
    /// Returns an error if Parquet does not take the profile, or the place refuses.
    pub fn add(&self, added: &ProfileToAdd<'_>) -> Result<Bytes, LakeError> {
        let found = Found::of(added.build, added.run.id);
        let samples = self.create(&name(Table::Sample, &found), || sample(added))?;
        // Last: what has it is complete.
        let rest = name(Table::Profile, &found);
        let rest = self.create(&rest, || profile(added))?;
        Ok(Bytes(samples.0 + rest.0))
    }

    fn create(
        &self,
        name: &str,
        bytes: impl FnOnce() -> Result<Vec<u8>, LakeError>,
    ) -> Result<Bytes, LakeError> {
        if self.place.has(name)? {
            return Ok(Bytes(0));
        }
        let bytes = bytes()?;
        self.place.create(name, &bytes)?;
        Ok(Bytes(bytes.len() as u64))
    }

    /// The profiles that it has, in the order of their builds' names and then of their ids.
    pub fn profiles(&self) -> Result<Vec<Found>, LakeError> {
        let listed = self.place.list(Table::Profile.name())?.into_iter();
        let found = listed.filter_map(|file| {
            let (_, below) = file.name.split_once('/')?;
            let (partition, name) = below.rsplit_once('/').unwrap_or(("", below));
            Some(Found {
                partition: partition.to_owned(),
                id: name.strip_suffix(EXTENSION)?.parse().ok()?,
            })
        });
        let mut found: Vec<Found> = found.collect();
        found.sort();
        Ok(found)
    }

    /// What is known of a profile beside what it cost.
    pub fn record(&self, found: &Found) -> Result<(Build, Profile), LakeError> {
        let (file, bytes) = self.read(Table::Profile, found)?;
        let Record { build, profile } = guarded(&file, || record(&file, bytes))?;
        Ok((build.into_owned(), profile.into_owned()))
    }

    /// What a profile cost, of which that is known.
    pub fn interned(
        &self,
        found: &Found,
        build: &Build,
        profile: &Profile,
    ) -> Result<Interned, LakeError> {
        let (file, bytes) = self.read(Table::Sample, found)?;
        let mut interned = guarded(&file, || stacks(&file, bytes, &profile.sample_types))?;
        let (rest, bytes) = self.read(Table::Profile, found)?;
        guarded(&rest, || add_rest(&rest, bytes, &mut interned))?;
        match ProfileId::of(build, profile, &interned) == found.id {
            true => Ok(interned),
            false => Err(damaged(&file, "the profile is not that of the file's name")),
        }
    }

    /// What a file of a profile is called in messages, and its content.
    fn read(&self, table: Table, found: &Found) -> Result<(String, Vec<u8>), LakeError> {
        let name = name(table, found);
        let file = self.called(&name);
        match self.place.read(&name, FILE_BYTES)? {
            Some(bytes) => Ok((file, bytes)),
            None => Err(damaged(&file, "it is missing")),
        }
    }

    fn called(&self, name: &str) -> String {
        format!("{}/{}", self.place, printable(name))
    }
}

/// The name of the file that a table has of a profile.
fn name(table: Table, Found { partition, id }: &Found) -> String {
    let folders = [table.name(), partition].into_iter();
    let folders = folders.filter(|folder| !folder.is_empty());
    let folders: String = folders.map(|folder| format!("{folder}/")).collect();
    format!("{folders}{id}{EXTENSION}")
}
