//! The folder of a dataset: its manifest, and files that are written once.

use super::partition::partition;
use super::profile::{Record, add_rest, profile, record};
use super::read::{damaged, guarded};
use super::sample::sample;
use super::stacks::stacks;
use super::{LAYOUT, LakeError, VERSION};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_core::files::{Folder, Links, SafeFile, Temporaries};
use sto_core::id::ProfileId;
use sto_core::intern::Interned;
use sto_core::model::{Build, Profile};
use sto_core::store::StoredProfile;

/// Where layout and version stand.
const MANIFEST: &str = "manifest.json";

/// Most bytes of a manifest.
const MANIFEST_BYTES: u64 = 1 << 16;

/// What files of tables are called after their profile.
const EXTENSION: &str = "parquet";

/// Most bytes of a file that is read: those of a run.
const FILE_BYTES: u64 = 4 << 30;

#[derive(Serialize, Deserialize)]
struct Manifest {
    layout: String,
    version: u64,
}

/// The folders below the dataset's.
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
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: ProfileId,
    /// The folders of its build.
    partition: PathBuf,
}

impl Found {
    fn of(build: &Build, id: ProfileId) -> Found {
        let partition = partition(build);
        Found { id, partition }
    }
}

/// What a dataset got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// Number of profiles that are in it now, and were not.
    pub added: usize,
    /// Number of those that were in it.
    pub kept: usize,
}

/// A dataset, of the layout and version that is written.
#[derive(Debug)]
pub struct Dataset {
    root: PathBuf,
    temporaries: Temporaries,
}

impl Dataset {
    /// The dataset in this folder. Files are among these temporary ones until they are complete.
    ///
    /// # Errors
    /// Where there is none, it has another layout or version, or cannot be read.
    pub fn open(root: &Path, temporaries: Temporaries) -> Result<Dataset, LakeError> {
        let dataset = Dataset {
            root: root.to_owned(),
            temporaries,
        };
        match dataset.is_there()? {
            true => Ok(dataset),
            false => Err(LakeError::NotFound(root.to_owned())),
        }
    }

    /// The same; where there is none, the folder becomes one.
    ///
    /// # Errors
    /// As [`Dataset::open`], and where the folder cannot be written.
    pub fn open_or_create(root: &Path, temporaries: Temporaries) -> Result<Dataset, LakeError> {
        let dataset = Dataset {
            root: root.to_owned(),
            temporaries,
        };
        if !dataset.is_there()? {
            let manifest = format!("{{\"layout\":\"{LAYOUT}\",\"version\":{VERSION}}}\n");
            dataset.write(&root.join(MANIFEST), manifest.as_bytes())?;
        }
        Ok(dataset)
    }

    fn is_there(&self) -> Result<bool, LakeError> {
        let path = self.root.join(MANIFEST);
        let bytes = match SafeFile::open(&path, Links::Follow) {
            Ok(file) => file.read(MANIFEST_BYTES).map_err(at(&path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(at(&path)(error)),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Manifest { layout, version }) if layout == LAYOUT && version == VERSION => Ok(true),
            Ok(Manifest { layout, version }) => Err(LakeError::OtherVersion {
                path,
                layout,
                version,
            }),
            Err(source) => Err(LakeError::NoManifest { path, source }),
        }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it has all of a profile of a build.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn has(&self, build: &Build, run: ProfileId) -> Result<bool, LakeError> {
        let path = self.path(Table::Profile, &Found::of(build, run));
        path.try_exists().map_err(at(&path))
    }

    /// Adds what it lacks of a profile of a build.
    ///
    /// # Errors
    /// Where Parquet does not take it, or the dataset cannot be written.
    pub fn add(
        &self,
        build: &Build,
        run: &StoredProfile,
        interned: &Interned,
    ) -> Result<(), LakeError> {
        let found = Found::of(build, run.id);
        let path = |table| self.path(table, &found);
        self.add_file(&path(Table::Sample), || sample(run, interned))?;
        // Last: what has it is complete.
        self.add_file(&path(Table::Profile), || profile(run, build, interned))
    }

    /// The profiles that it has, in the order of the names of their files.
    pub(crate) fn profiles(&self) -> Result<Vec<Found>, LakeError> {
        let root = self.root.join(Table::Profile.name());
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(partition) = folders.pop() {
            let folder = root.join(&partition);
            for entry in fs::read_dir(&folder).map_err(at(&folder))? {
                let entry = entry.map_err(at(&folder))?;
                let name = PathBuf::from(entry.file_name());
                if entry.file_type().map_err(at(&folder))?.is_dir() {
                    folders.push(partition.join(name));
                    continue;
                }
                let id = name.file_stem().and_then(OsStr::to_str).map(str::parse);
                if let (Some(Ok(id)), true) = (id, name.extension() == Some(EXTENSION.as_ref())) {
                    let partition = partition.clone();
                    found.push(Found { id, partition });
                }
            }
        }
        found.sort_by(|a, b| (&a.partition, a.id).cmp(&(&b.partition, b.id)));
        Ok(found)
    }

    /// What is known of a profile beside what it cost.
    pub(crate) fn record(&self, found: &Found) -> Result<(Build, Profile), LakeError> {
        let path = self.path(Table::Profile, found);
        let Record { build, profile } = guarded(&path, || record(&path, read(&path)?))?;
        Ok((build.into_owned(), profile.into_owned()))
    }

    /// What a profile cost, of which that is known.
    pub(crate) fn interned(
        &self,
        found: &Found,
        build: &Build,
        profile: &Profile,
    ) -> Result<Interned, LakeError> {
        let path = self.path(Table::Sample, found);
        let mut interned = guarded(&path, || stacks(&path, read(&path)?, &profile.sample_types))?;
        let rest = self.path(Table::Profile, found);
        guarded(&rest, || add_rest(&rest, read(&rest)?, &mut interned))?;
        match ProfileId::of(build, profile, &interned) == found.id {
            true => Ok(interned),
            false => Err(damaged(&path, "the profile is not that of the file's name")),
        }
    }

    fn path(&self, table: Table, found: &Found) -> PathBuf {
        let folder = self.root.join(table.name()).join(&found.partition);
        folder.join(format!("{}.{EXTENSION}", found.id))
    }

    fn add_file(
        &self,
        path: &Path,
        bytes: impl FnOnce() -> Result<Vec<u8>, LakeError>,
    ) -> Result<(), LakeError> {
        match path.try_exists().map_err(at(path))? {
            true => Ok(()),
            false => self.write(path, &bytes()?),
        }
    }

    /// Writes a file under a name that nobody looks at, and gives it its own as it is complete.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), LakeError> {
        let written = || -> io::Result<()> {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            fs::create_dir_all(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
            let folder = Arc::new(Folder::of(path)?);
            let new = self.temporaries.new_in(&folder, OsStr::new(".sto-"))?;
            new.file().write_all(bytes)?;
            new.file().sync_all()?;
            new.replace_with_own_mode(name)
        };
        written().map_err(at(path))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LakeError> {
    let file = SafeFile::open(path, Links::Follow).map_err(at(path))?;
    file.read(FILE_BYTES).map_err(at(path))
}

fn at(path: &Path) -> impl Fn(io::Error) -> LakeError + '_ {
    |source| LakeError::Io {
        path: path.to_owned(),
        source,
    }
}
