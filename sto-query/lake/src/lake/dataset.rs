//! Files of a dataset: a manifest, and files of profiles, which are never modified.

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
use sto_model::tree::ProfileData;
use sto_model::units::Bytes;
use sto_model::{Build, Profile};

/// Name of the file with layout and version.
const MANIFEST: &str = "manifest.json";

/// Maximum size of a manifest.
const MANIFEST_BYTES: Bytes = Bytes(1 << 16);

/// Maximum size of a run's file.
const FILE_BYTES: Bytes = Bytes(4 << 30);

/// Extension of file names, after the profile id.
const EXTENSION: &str = ".parquet";

#[derive(Serialize, Deserialize)]
struct Manifest {
    layout: String,
    version: u64,
}

/// Tables of a dataset, each in its own folder.
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

/// A profile in a dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatasetProfile {
    /// Folders of its build.
    partition: String,
    /// Id of the profile.
    pub id: ProfileId,
}

impl DatasetProfile {
    fn new(build: &Build, id: ProfileId) -> DatasetProfile {
        let partition = partition(build);
        DatasetProfile { partition, id }
    }
}

/// A dataset in the current layout and version.
#[derive(Debug)]
pub struct Dataset {
    place: Place,
}

impl Dataset {
    /// Opens the dataset at a place with the syntax of [`Place::parse`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is no dataset, if its layout or version is unknown, or if the place cannot be
    /// accessed.
    pub fn open(place: &Path, machine: &Machine) -> Result<Dataset, LakeError> {
        let dataset = Dataset::at(place, machine)?;
        if dataset.is_there()? {
            Ok(dataset)
        } else {
            Err(LakeError::NotFound(dataset.place.to_string()))
        }
    }

    /// Opens the dataset at a place, or creates one if the place has no dataset.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dataset::open`].
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

    /// The place of the dataset.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns `true` if the dataset contains all of a build's profile.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be accessed.
    pub fn has(&self, build: &Build, run: ProfileId) -> Result<bool, LakeError> {
        let found = DatasetProfile::new(build, run);
        Ok(self.place.has(&name(Table::Profile, &found))?)
    }

    /// Adds the missing files of a profile, and returns the number of bytes written.
    ///
    /// # Errors
    ///
    /// Returns an error if the profile cannot be encoded as Parquet, or if the place cannot be accessed.
    pub fn add(&self, added: &ProfileToAdd<'_>) -> Result<Bytes, LakeError> {
        let found = DatasetProfile::new(added.build, added.run.id);
        let samples = self.create(&name(Table::Sample, &found), || sample(added))?;
        // Written last, so that a profile with this file is complete.
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

    /// Returns the profiles in the dataset, sorted by the names of their builds, then by id.
    pub fn profiles(&self) -> Result<Vec<DatasetProfile>, LakeError> {
        let listed = self.place.list(Table::Profile.name())?.into_iter();
        let found = listed.filter_map(|file| {
            let (_, below) = file.name.split_once('/')?;
            let (partition, name) = below.rsplit_once('/').unwrap_or(("", below));
            Some(DatasetProfile {
                partition: partition.to_owned(),
                id: name.strip_suffix(EXTENSION)?.parse().ok()?,
            })
        });
        let mut found: Vec<DatasetProfile> = found.collect();
        found.sort();
        Ok(found)
    }

    /// Reads the build and profile record of a profile.
    pub fn record(&self, found: &DatasetProfile) -> Result<(Build, Profile), LakeError> {
        let (file, bytes) = self.read(Table::Profile, found)?;
        let Record { build, profile } = guarded(&file, || record(&file, bytes))?;
        Ok((build.into_owned(), profile.into_owned()))
    }

    /// Reads the stacks and costs of a profile whose record is known.
    pub fn interned(
        &self,
        found: &DatasetProfile,
        build: &Build,
        profile: &Profile,
    ) -> Result<ProfileData, LakeError> {
        let (file, bytes) = self.read(Table::Sample, found)?;
        let mut interned = guarded(&file, || stacks(&file, bytes, &profile.sample_types))?;
        let (rest, bytes) = self.read(Table::Profile, found)?;
        guarded(&rest, || add_rest(&rest, bytes, &mut interned))?;
        if ProfileId::new(build, profile, &interned) == found.id {
            Ok(interned)
        } else {
            Err(damaged(&file, "the profile differs from the file's name"))
        }
    }

    /// Reads a profile's file, and returns its name for messages and its contents.
    fn read(&self, table: Table, found: &DatasetProfile) -> Result<(String, Vec<u8>), LakeError> {
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

/// Name of a profile's file in a table.
fn name(table: Table, DatasetProfile { partition, id }: &DatasetProfile) -> String {
    let folders = [table.name(), partition].into_iter();
    let folders = folders.filter(|folder| !folder.is_empty());
    let folders: String = folders.map(|folder| format!("{folder}/")).collect();
    format!("{folders}{id}{EXTENSION}")
}
