//! Places with write-once files: folders, SSH servers and object stores.
//!
//! ```text
//! address      parsing of a path or URL
//! folder       a local or mounted folder
//! ssh          a folder on a server, by OpenSSH's sftp
//! object       a bucket of S3, Google Cloud Storage or Azure
//! http         HTTP client for `object_store`
//! server       the store of a server of sto
//! error        error messages with advice
//! ```
//!
//! A file appears only when it is complete, and is never modified or removed. Any number of processes may therefore
//! write to a place at the same time, and readers need not wait.

mod address;
mod error;
mod folder;
#[cfg(feature = "cloud")]
mod http;
#[cfg(feature = "cloud")]
mod object;
#[cfg(feature = "cloud")]
mod server;
mod ssh;

pub use error::{FailureReason, PlaceError};

use address::{Address, check_name};
use error::Refusal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;
use sto_model::files::TemporaryFiles;
use sto_model::units::Bytes;

/// Prefix of the names of incomplete files.
const UNFINISHED: &str = ".sto-";

/// Maximum number of files and folders that a listing reads. A place with more belongs to someone else, and reading
/// its files would take hours.
const MAX_LISTED: usize = 1 << 17;

/// Maximum memory of the names that a listing returns, which a hostile server could make long.
const MAX_NAMES: Bytes = Bytes(128 << 20);

/// Resources of the local machine that places use.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Temporary files of this process.
    pub temporaries: TemporaryFiles,
    /// Environment variables, for credentials such as `AWS_ACCESS_KEY_ID`.
    pub variables: BTreeMap<String, String>,
    /// Time after which a server that sends nothing is given up.
    pub timeout: Duration,
}

/// No environment variables, and a timeout of 30 seconds.
impl Default for Machine {
    fn default() -> Machine {
        Machine {
            temporaries: TemporaryFiles::default(),
            variables: BTreeMap::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

/// A file at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ListedFile {
    /// Path relative to the place, with `/` between folders.
    pub name: String,
    /// Size of the file.
    pub size: Bytes,
}

/// A location of files.
pub struct Place {
    name: String,
    files: Box<dyn Files>,
}

/// Operations on a place, with paths relative to it. Names have been checked.
trait Files: Send + Sync {
    /// Whether reading a file takes hardly longer than listing it.
    fn is_local(&self) -> bool {
        false
    }

    /// Lists the files below a folder; empty if there is no such folder.
    fn list(&self, folder: &str) -> Result<Vec<ListedFile>, Refusal>;

    /// Returns `true` if there are no complete files.
    fn is_empty(&self) -> Result<bool, Refusal>;

    /// Returns `true` if the file, or a link to it, exists. Something else under its name is an error.
    fn has(&self, name: &str) -> Result<bool, Refusal>;

    /// Reads a file of at most `most` bytes; `None` if it does not exist.
    fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, Refusal>;

    /// Reads the last `len` bytes of a file; `None` if it is shorter or does not exist, or if this would take as long as
    /// reading all of it.
    fn read_end(&self, _name: &str, _len: usize) -> Result<Option<Vec<u8>>, Refusal> {
        Ok(None)
    }

    /// Writes a file unless it exists, and returns `true` if it was written. Something else under its name, even a
    /// link to a file, is an error.
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Refusal>;

    /// Sends JSON to a path of a server of sto, and returns the answer of at most `most` bytes.
    fn ask(&self, _path: &str, _json: &[u8], _most: Bytes) -> Result<Vec<u8>, Refusal> {
        Err(Refusal::other(
            "it is no server of sto, whose address begins with https:// or http://",
        ))
    }
}

impl Place {
    /// Parses an address: a path, `ssh://[USER@]HOST[:PORT]/PATH`, `s3://BUCKET[/PREFIX]`, `gs://...`, `az://...`, or
    /// `https://HOST[:PORT][/PATH]` of a server of sto.
    /// Does not access the place.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is invalid, or if credentials for it cannot be read.
    pub fn parse(text: &OsStr, machine: &Machine) -> Result<Place, PlaceError> {
        let address = Address::parse(text)?;
        let name = address.to_string();
        let files: Result<Box<dyn Files>, Refusal> = match address {
            Address::Folder(path) => Ok(Box::new(folder::Files::new(path, machine))),
            Address::Ssh(remote) => Ok(Box::new(ssh::Files::new(remote, machine.timeout))),
            #[cfg(feature = "cloud")]
            Address::Bucket(bucket) => {
                object::Files::new(&bucket, machine).map(|files| Box::new(files) as Box<_>)
            }
            #[cfg(feature = "cloud")]
            Address::Server(url) => {
                server::Files::new(url, machine).map(|files| Box::new(files) as Box<_>)
            }
            #[cfg(not(feature = "cloud"))]
            Address::Bucket(_) | Address::Server(_) => {
                return Err(PlaceError::LeftOut { place: name });
            }
        };
        match files {
            Ok(files) => Ok(Place { name, files }),
            Err(refusal) => Err(refusal.into_place_error(&name, "open", "")),
        }
    }

    /// Asks a server of sto: sends JSON to a path below `/api/v1/`, and returns the answer of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the place is no such server, cannot be reached, or refuses the question.
    pub fn ask(&self, path: &str, json: &[u8], most: Bytes) -> Result<Vec<u8>, PlaceError> {
        let answer = self.files.ask(path, json, most);
        answer.map_err(|refusal| refusal.into_place_error(&self.name, "ask", ""))
    }

    /// Whether this is a folder of this machine, from which files are read quickly.
    pub fn is_local(&self) -> bool {
        self.files.is_local()
    }

    /// Lists the files below a folder recursively, sorted by name; an empty name stands for the whole place.
    /// Incomplete files are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be accessed, or if there are too many files ([`FailureReason::TooMany`]).
    pub fn list(&self, folder: &str) -> Result<Vec<ListedFile>, PlaceError> {
        let checked = check_name(folder, true);
        let listed = checked.and_then(|()| self.files.list(folder));
        let mut listed =
            listed.map_err(|refusal| refusal.into_place_error(&self.name, "list", folder))?;
        let is_whole = |file: &ListedFile| {
            !file
                .name
                .split('/')
                .any(|part| part.starts_with(UNFINISHED))
        };
        listed.retain(is_whole);
        listed.sort();
        Ok(listed)
    }

    /// Returns `true` if the place has no files and folders. Incomplete files are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be accessed.
    pub fn is_empty(&self) -> Result<bool, PlaceError> {
        let is_empty = self.files.is_empty();
        is_empty.map_err(|refusal| refusal.into_place_error(&self.name, "list", ""))
    }

    /// Returns `true` if the file exists.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be accessed, or if something else has this name ([`FailureReason::NotAFile`]).
    pub fn has(&self, name: &str) -> Result<bool, PlaceError> {
        let has = check_name(name, false).and_then(|()| self.files.has(name));
        has.map_err(|refusal| refusal.into_place_error(&self.name, "look for", name))
    }

    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be accessed, or if the file exceeds `most` bytes ([`FailureReason::TooLong`]).
    pub fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, PlaceError> {
        let bytes = check_name(name, false).and_then(|()| self.files.read(name, most));
        bytes.map_err(|refusal| refusal.into_place_error(&self.name, "read", name))
    }

    /// Reads the last `len` bytes of a file in a folder of this machine; `None` if the place is elsewhere, or if the file
    /// is shorter or does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the place cannot be accessed.
    pub fn read_end(&self, name: &str, len: usize) -> Result<Option<Vec<u8>>, PlaceError> {
        let bytes = check_name(name, false).and_then(|()| self.files.read_end(name, len));
        bytes.map_err(|refusal| refusal.into_place_error(&self.name, "read", name))
    }

    /// Writes a file and its parent folders unless it exists, and returns `true` if it was written.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Place::has`], and an error if a link has this name: links are not listed.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, PlaceError> {
        let created = check_name(name, false).and_then(|()| self.files.create(name, bytes));
        created.map_err(|refusal| refusal.into_place_error(&self.name, "write", name))
    }
}

/// The names of a listing so far.
#[derive(Default)]
struct ListedNames {
    number: usize,
    memory: u64,
}

impl ListedNames {
    /// Counts a file or folder. Returns an error if there are too many, or their names are too long.
    fn count(&mut self, name: &str) -> Result<(), Refusal> {
        self.number += 1;
        self.memory += (size_of::<ListedFile>() + name.len()) as u64;
        if self.number > MAX_LISTED {
            return Err(Refusal::new(FailureReason::TooMany, ""));
        }
        if self.memory > MAX_NAMES.0 {
            let why = format!("the names of its files exceed {} bytes", MAX_NAMES.0);
            return Err(Refusal::other(&why));
        }
        Ok(())
    }
}

/// Formats the address with control characters escaped.
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
