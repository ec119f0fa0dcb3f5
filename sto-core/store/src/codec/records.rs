//! Small records, encoded by bincode 2 with its standard configuration: fields in order without
//! names, integers little-endian in 1 to 9 bytes, strings and lists after their lengths.

use super::DecodeError;
use super::bytes::{Packer, Unpacker};
use crate::numbers::{BuildNo, ExecutableNo, FrameNo, ModulesNo, NodeNo, ProfileNo, TypeNo};
use serde::{Deserialize, Serialize};
use sto_model::id::ProfileId;
use sto_model::limits::{MAX_COMMIT_PARENTS, MAX_USER_STRING};
use sto_model::units::{Cost, SampleType, UnixSeconds};
use sto_model::{Build, Commit, CommitHash, GnuBuildId, ModuleRef, Profile};

/// The number of things in a store, and the next free numbers.
///
/// Stores with equal contents have the same things under the same numbers, so a plan made for one
/// applies to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    /// Digest of all changes to the store, in order.
    pub(crate) history: [u8; 16],
    /// Number of builds.
    pub(crate) builds: u32,
    /// Number of frames, and the next frame's number.
    pub(crate) frames: FrameNo,
    /// Number of executables, and the next executable's number.
    pub(crate) executables: ExecutableNo,
    /// Number of profiles.
    pub(crate) profiles: u32,
    /// Number of module lists, and the next list's number.
    pub(crate) modules: ModulesNo,
    /// The next build's number. The numbers of removed builds are not reused.
    pub(crate) next_build: BuildNo,
    /// The next profile's number.
    pub(crate) next_profile: ProfileNo,
}

/// The profile of a reading of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadingRecord {
    pub(crate) profile: ProfileId,
    pub(crate) from: ProfileOrigin,
}

/// The origin of a profile in a store. It is not part of the profile and is not copied to other
/// stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ProfileOrigin {
    /// The source was read for this store.
    ReadHere,
    /// Merged from the store at this path.
    Store(String),
    /// Part of an export from another store.
    Exported,
}

impl ProfileOrigin {
    /// The path of the store that the profile was merged from, if any.
    pub fn store(&self) -> Option<&str> {
        match self {
            ProfileOrigin::Store(path) => Some(path),
            ProfileOrigin::ReadHere | ProfileOrigin::Exported => None,
        }
    }
}

/// An executable and its tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExecutableRecord {
    pub(crate) name: String,
    pub(crate) number: ExecutableNo,
    /// Number of nodes, and the next node's number.
    pub(crate) nodes: NodeNo,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildRecord {
    pub(crate) executable: String,
    pub(crate) version: String,
    pub(crate) gnu_build_id: Option<EarliestFact<GnuBuildId>>,
    pub(crate) revision: Option<EarliestFact<String>>,
    pub(crate) number: BuildNo,
    /// Number of profiles.
    pub(crate) profiles: u32,
    /// Number of samples in all profiles.
    pub(crate) samples: u64,
    /// Self costs summed by sample type.
    pub(crate) sums: Vec<CostSum>,
}

/// A fact about a build from one of its profiles: from the earliest recording, and of several the
/// one with the lowest id. So the order in which profiles are added does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarliestFact<T> {
    pub(crate) value: T,
    /// Seconds since 1970; `u64::MAX` if the profile does not have a time.
    pub(crate) recorded: u64,
    pub(crate) profile: ProfileId,
}

/// Self costs of one sample type, summed over the profiles of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CostSum {
    pub(crate) sample_type: SampleType,
    /// Sum over all profiles.
    pub(crate) total: Cost,
    /// Whether the build has a column of sums, whose number is this sum's index.
    pub(crate) has_column: bool,
    /// The latest profiles' columns, which are not in the column of sums.
    pub(crate) separate: Vec<(ProfileNo, TypeNo)>,
}

/// A commit that revisions of profiles name, stored once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitRecord {
    pub(crate) hash: CommitHash,
    pub(crate) parents: Vec<CommitHash>,
    pub(crate) author_time: UnixSeconds,
    pub(crate) subject: String,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProfileRecord {
    pub(crate) number: ProfileNo,
    /// Packed bytes of the columns that belong to this profile.
    pub(crate) columns: u64,
    pub(crate) modules: ModulesNo,
    /// GNU build id of the main program in this recording.
    pub(crate) gnu_build_id: Option<GnuBuildId>,
    /// Revision of the work tree that was given with this profile.
    pub(crate) revision: Option<String>,
    /// Packed bytes of the slices of time; 0 if none are kept.
    pub(crate) slices: u64,
    /// The profile, without its modules, which profiles share.
    pub(crate) profile: Profile,
}

impl ProfileRecord {
    /// The numbers of the profile's sample types.
    pub(crate) fn types(&self) -> impl Iterator<Item = TypeNo> + use<> {
        (0..self.profile.sample_types.len() as u32).map(TypeNo)
    }
}

impl BuildRecord {
    /// The numbers of the build's sums.
    pub(crate) fn types(&self) -> impl Iterator<Item = TypeNo> + use<> {
        (0..self.sums.len() as u32).map(TypeNo)
    }

    /// The build's metadata from all its profiles, without the commit, which has its own record.
    pub(crate) fn build(&self) -> Build {
        Build {
            executable: self.executable.clone(),
            version: self.version.clone(),
            gnu_build_id: self.gnu_build_id.as_ref().map(|known| known.value.clone()),
            revision: self.revision.as_ref().map(|known| known.value.clone()),
            commit: None,
        }
    }
}

impl CommitRecord {
    /// The stored metadata of a commit, independent of the work tree's state.
    pub(crate) fn from_commit(commit: &Commit) -> Self {
        CommitRecord {
            hash: commit.hash.clone(),
            parents: commit.parents.clone(),
            author_time: commit.author_time,
            subject: commit.subject.clone(),
        }
    }

    /// Whether it is within the format's limits; git has none.
    pub(crate) fn is_within_limits(&self) -> bool {
        self.subject.len() <= MAX_USER_STRING && self.parents.len() <= MAX_COMMIT_PARENTS
    }

    /// The commit of a work tree with this revision.
    pub(crate) fn with_revision(self, revision: &str) -> Commit {
        let CommitRecord {
            hash,
            parents,
            author_time,
            subject,
        } = self;
        Commit {
            hash,
            parents,
            author_time,
            subject,
            dirty: Commit::is_dirty(revision),
        }
    }
}

/// Maximum length of a record. bincode checks announced lengths against it before it reserves memory.
const MAX_RECORD_LEN: usize = 16 << 20;

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<MAX_RECORD_LEN>()
}

/// Encodes a record.
pub(crate) fn pack(record: &impl Serialize) -> Result<Vec<u8>, DecodeError> {
    bincode::serde::encode_to_vec(record, config())
        .ok()
        .filter(|bytes| bytes.len() <= MAX_RECORD_LEN)
        .ok_or(DecodeError("a record is longer than 16 MiB"))
}

/// Decodes a record, which must use all bytes.
pub(crate) fn unpack<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, DecodeError> {
    match bincode::serde::decode_from_slice(bytes, config()) {
        Ok((record, read)) if read == bytes.len() => Ok(record),
        Ok(_) => Err(DecodeError("bytes are left over")),
        Err(_) => Err(DecodeError("a record cannot be decoded")),
    }
}

/// Packs a list of modules.
pub(crate) fn pack_modules(modules: &[ModuleRef]) -> Result<Vec<u8>, DecodeError> {
    let mut list = Packer::default();
    list.raw(&pack(&modules)?);
    let mut column = Packer::default();
    column.column(list);
    column.finish()
}

/// Unpacks a list of modules.
pub(crate) fn unpack_modules(pack: &[u8]) -> Result<Vec<ModuleRef>, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let list = pack.column()?;
    pack.finish()?;
    let modules: Vec<ModuleRef> = unpack(&list)?;
    let valid = |id: &GnuBuildId| GnuBuildId::from_bytes(id.as_bytes()).is_some();
    let mut ids = modules.iter().filter_map(|module| module.build_id.as_ref());
    if ids.all(valid) {
        Ok(modules)
    } else {
        Err(DecodeError("a GNU build id is empty, zero or too long"))
    }
}
