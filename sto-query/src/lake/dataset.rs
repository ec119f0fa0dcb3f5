//! The folder of a dataset: its manifest, and files that are written once.

use super::partition::partition;
use super::profile::profile;
use super::sample::sample;
use super::{LAYOUT, LakeError, VERSION};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_core::files::{Folder, Links, SafeFile, Temporaries};
use sto_core::id::ExecutableId;
use sto_core::model::Build;
use sto_core::store::{Snapshot, StoredProfile};

/// Where layout and version stand.
const MANIFEST: &str = "manifest.json";

/// Most bytes of a manifest.
const MANIFEST_BYTES: u64 = 1 << 16;

#[derive(Serialize, Deserialize)]
struct Manifest {
    layout: String,
    version: u64,
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
    /// The dataset in this folder; where there is none, it becomes one. Files are among these temporary ones until
    /// they are complete.
    ///
    /// # Errors
    /// Where the folder has another layout or version, or cannot be read or written.
    pub fn open(root: &Path, temporaries: Temporaries) -> Result<Dataset, LakeError> {
        let dataset = Dataset {
            root: root.to_owned(),
            temporaries,
        };
        let path = root.join(MANIFEST);
        let bytes = match SafeFile::open(&path, Links::Follow) {
            Ok(file) => file.read(MANIFEST_BYTES).map_err(at(&path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let manifest = format!("{{\"layout\":\"{LAYOUT}\",\"version\":{VERSION}}}\n");
                dataset.write(&path, manifest.as_bytes())?;
                return Ok(dataset);
            }
            Err(error) => return Err(at(&path)(error)),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Manifest { layout, version }) if layout == LAYOUT && version == VERSION => {
                Ok(dataset)
            }
            Ok(Manifest { layout, version }) => Err(LakeError::OtherVersion {
                path,
                layout,
                version,
            }),
            Err(source) => Err(LakeError::NoManifest { path, source }),
        }
    }

    /// Adds a profile of a build, and says whether anything of it was missing.
    ///
    /// # Errors
    /// Where it cannot be read, or the dataset cannot be written.
    pub fn add(
        &self,
        store: &Snapshot,
        build: &Build,
        run: &StoredProfile,
    ) -> Result<bool, LakeError> {
        let name = format!("{}.parquet", run.id);
        let path = |table: &str| self.root.join(table).join(partition(build)).join(&name);
        let samples = self.add_file(&path("sample"), || {
            let executable = ExecutableId::of(&build.executable);
            sample(run, &store.load(executable, &[run.id])?)
        })?;
        // Last: what has it is complete.
        let profile = self.add_file(&path("profile"), || profile(run))?;
        Ok(samples || profile)
    }

    fn add_file(
        &self,
        path: &Path,
        bytes: impl FnOnce() -> Result<Vec<u8>, LakeError>,
    ) -> Result<bool, LakeError> {
        if path.try_exists().map_err(at(path))? {
            return Ok(false);
        }
        self.write(path, &bytes()?)?;
        Ok(true)
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

fn at(path: &Path) -> impl Fn(io::Error) -> LakeError + '_ {
    |source| LakeError::Io {
        path: path.to_owned(),
        source,
    }
}
