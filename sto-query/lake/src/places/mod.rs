//! Places where files lie under names that are written once: folders, and what stands elsewhere.
//!
//! ```text
//! address      what was written: a path, or a URL
//! folder       a folder of this machine, or one that it has mounted
//! ssh          a folder at the other end of OpenSSH's sftp
//! object       a bucket of S3, Google Cloud Storage or Azure
//! http         what `object_store` needs to send its requests
//! error        what the other end said, and what to do
//! ```
//!
//! A file is there as a whole or not at all, and nothing changes or removes it: so any number of processes may write to
//! a place at once, and who reads it need not wait for them.

mod address;
mod error;
mod folder;
#[cfg(feature = "cloud")]
mod http;
#[cfg(feature = "cloud")]
mod object;
mod ssh;

pub use error::{PlaceError, Why};

use address::{Address, checked};
use error::Refusal;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use sto_model::files::Temporaries;
use sto_model::units::Bytes;

/// How names begin of files that are not complete yet.
const UNFINISHED: &str = ".sto-";

/// What places use of this machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The temporary files of this process.
    pub temporaries: Temporaries,
    /// The variables of the environment, for credentials: `AWS_ACCESS_KEY_ID`, ...
    pub variables: BTreeMap<String, String>,
}

/// A file of a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its path below the place, with `/` between folders.
    pub name: String,
    /// Its size.
    pub size: Bytes,
}

/// Somewhere files lie.
pub struct Place {
    name: String,
    files: Box<dyn Files>,
}

/// What a place can do, below it. Names have been checked.
trait Files: Send + Sync {
    /// The files below a folder; none where there is no such folder.
    fn list(&self, folder: &str) -> Result<Vec<Listed>, Refusal>;

    /// Whether nothing is in it that is complete.
    fn is_empty(&self) -> Result<bool, Refusal>;

    /// Whether there is a file of this name.
    fn has(&self, name: &str) -> Result<bool, Refusal>;

    /// The content of a file that is no longer than this; `None` where there is none.
    fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, Refusal>;

    /// Writes a file, unless there is one of this name.
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Refusal>;
}

impl Place {
    /// The place that is written so: a path, `ssh://[USER@]HOST[:PORT]/PATH`, `s3://BUCKET[/PREFIX]`, `gs://...`
    /// or `az://...`. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Where it is none of these, or credentials for it cannot be read.
    pub fn parse(text: &OsStr, machine: &Machine) -> Result<Place, PlaceError> {
        let address = Address::parse(text)?;
        let name = address.to_string();
        let files: Result<Box<dyn Files>, Refusal> = match address {
            Address::Folder(path) => Ok(Box::new(folder::Files::new(path, machine))),
            Address::Ssh(remote) => Ok(Box::new(ssh::Files::new(remote))),
            #[cfg(feature = "cloud")]
            Address::Bucket(bucket) => {
                object::Files::new(&bucket, machine).map(|files| Box::new(files) as Box<_>)
            }
            #[cfg(not(feature = "cloud"))]
            Address::Bucket(_) => return Err(PlaceError::LeftOut { place: name }),
        };
        match files {
            Ok(files) => Ok(Place { name, files }),
            Err(refusal) => Err(refusal.at(&name, "open", "")),
        }
    }

    /// The files in a folder and the folders below it, by name; of the whole place, the folder is empty. Files that
    /// are not complete are none.
    ///
    /// # Errors
    /// Where the place cannot be reached, or refuses.
    pub fn list(&self, folder: &str) -> Result<Vec<Listed>, PlaceError> {
        let checked = checked(folder, true);
        let listed = checked.and_then(|()| self.files.list(folder));
        let mut listed = listed.map_err(|refusal| refusal.at(&self.name, "list", folder))?;
        let is_whole = |file: &Listed| {
            !file
                .name
                .split('/')
                .any(|part| part.starts_with(UNFINISHED))
        };
        listed.retain(is_whole);
        listed.sort();
        Ok(listed)
    }

    /// Whether nothing is in it, not even a folder. Files that are not complete are nothing.
    ///
    /// # Errors
    /// As [`Place::list`].
    pub fn is_empty(&self) -> Result<bool, PlaceError> {
        let is_empty = self.files.is_empty();
        is_empty.map_err(|refusal| refusal.at(&self.name, "list", ""))
    }

    /// Whether there is a file of this name.
    ///
    /// # Errors
    /// As [`Place::list`].
    pub fn has(&self, name: &str) -> Result<bool, PlaceError> {
        let has = checked(name, false).and_then(|()| self.files.has(name));
        has.map_err(|refusal| refusal.at(&self.name, "look for", name))
    }

    /// The content of a file; `None` where there is none.
    ///
    /// # Errors
    /// As [`Place::list`], and where it is longer than `most` ([`Why::TooLong`]).
    pub fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, PlaceError> {
        let bytes = checked(name, false).and_then(|()| self.files.read(name, most));
        bytes.map_err(|refusal| refusal.at(&self.name, "read", name))
    }

    /// Writes a file with its folders, and says whether it was missing. One that is there stays as it is.
    ///
    /// # Errors
    /// As [`Place::list`].
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, PlaceError> {
        let created = checked(name, false).and_then(|()| self.files.create(name, bytes));
        created.map_err(|refusal| refusal.at(&self.name, "write", name))
    }
}

/// As it was written, without what a terminal would obey.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.name)
    }
}
