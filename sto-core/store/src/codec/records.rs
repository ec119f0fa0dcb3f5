//! Small records, through bincode 2 with its standard configuration: fields in order without
//! names, integers little-endian in 1 to 9 bytes, lengths before strings and lists.

use super::DecodeError;
use super::bytes::{Packer, Unpacker};
use crate::numbers::{BuildNo, ExecutableNo, FrameNo, ModulesNo, NodeNo, ProfileNo, TypeNo};
use serde::{Deserialize, Serialize};
use sto_model::id::ProfileId;
use sto_model::limits::{MAX_GIVEN_NAME, MAX_PARENTS};
use sto_model::units::{Cost, SampleType, UnixSeconds};
use sto_model::{Build, Commit, CommitHash, GnuBuildId, ModuleRef, Profile};

/// How much a store holds, and which numbers are free.
///
/// Two stores with equal contents have the same things under the same numbers: so who worked
/// something out in one of them can use it in the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    /// Digest of everything that was ever done to the store, in its order.
    pub(crate) history: [u8; 16],
    /// Number of builds.
    pub(crate) builds: u32,
    /// Number of frames, and of the next one.
    pub(crate) frames: FrameNo,
    /// Number of executables, and of the next one.
    pub(crate) executables: ExecutableNo,
    /// Number of profiles.
    pub(crate) profiles: u32,
    /// Number of module lists, and of the next one.
    pub(crate) modules: ModulesNo,
    /// Number of the next build: builds that were removed leave theirs free.
    pub(crate) next_build: BuildNo,
    /// Number of the next profile.
    pub(crate) next_profile: ProfileNo,
}

/// Which profile stands for a reading of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadingRecord {
    pub(crate) profile: ProfileId,
    pub(crate) from: CameFrom,
}

/// Where a profile came from, as the store knows that has it. It is no part of the profile, and goes into
/// no other store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CameFrom {
    /// Its source was read for this store.
    ReadHere,
    /// From the store at this path, by merging.
    Store(String),
    /// This store was exported from another one.
    Exported,
}

impl CameFrom {
    /// The store that it was merged from.
    pub fn store(&self) -> Option<&str> {
        match self {
            CameFrom::Store(path) => Some(path),
            CameFrom::ReadHere | CameFrom::Exported => None,
        }
    }
}

/// An executable and its tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExecutableRecord {
    pub(crate) name: String,
    pub(crate) number: ExecutableNo,
    /// Number of nodes, and of the next one.
    pub(crate) nodes: NodeNo,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildRecord {
    pub(crate) executable: String,
    pub(crate) version: String,
    pub(crate) gnu_build_id: Option<Known<GnuBuildId>>,
    pub(crate) revision: Option<Known<String>>,
    pub(crate) number: BuildNo,
    /// Number of its profiles.
    pub(crate) profiles: u32,
    /// Samples of all its profiles.
    pub(crate) samples: u64,
    /// Where its summed self costs stand, by sample type.
    pub(crate) sums: Vec<Sum>,
}

/// What is known of a build from one of its profiles: the one that was recorded first, and of those
/// the one with the lowest id. So it does not matter in which order profiles came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known<T> {
    pub(crate) value: T,
    /// Seconds since 1970; the largest number where the profile does not say.
    pub(crate) recorded: u64,
    pub(crate) profile: ProfileId,
}

/// Self costs of one sample type, summed over the profiles of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    pub(crate) sample_type: SampleType,
    /// What all of them add up to.
    pub(crate) total: Cost,
    /// Whether columns are added up in one of the build's own, whose number is this sum's index.
    pub(crate) has_column: bool,
    /// The columns that are not: those that came in last.
    pub(crate) separate: Vec<(ProfileNo, TypeNo)>,
}

/// A commit that revisions of profiles name. It stands once, however many do.
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
    /// Packed bytes of the columns that are its own.
    pub(crate) columns: u64,
    pub(crate) modules: ModulesNo,
    /// GNU build id of the main program, as this recording has it.
    pub(crate) gnu_build_id: Option<GnuBuildId>,
    /// Revision of the work tree, as it was given with this profile.
    pub(crate) revision: Option<String>,
    /// Packed bytes of its slices of time; 0 where none are kept.
    pub(crate) slices: u64,
    /// The profile; its modules are left out, as profiles share them.
    pub(crate) profile: Profile,
}

impl ProfileRecord {
    /// The numbers of its sample types.
    pub(crate) fn types(&self) -> impl Iterator<Item = TypeNo> + use<> {
        (0..self.profile.sample_types.len() as u32).map(TypeNo)
    }
}

impl BuildRecord {
    /// The numbers of its sums.
    pub(crate) fn types(&self) -> impl Iterator<Item = TypeNo> + use<> {
        (0..self.sums.len() as u32).map(TypeNo)
    }

    /// What its profiles say of it together; its commit has a record of its own.
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
    /// What there is to keep of a commit, whatever the work tree was like.
    pub(crate) fn of(commit: &Commit) -> Self {
        CommitRecord {
            hash: commit.hash.clone(),
            parents: commit.parents.clone(),
            author_time: commit.author_time,
            subject: commit.subject.clone(),
        }
    }

    /// Whether it may be stored: git has no limits of its own.
    pub(crate) fn is_within_limits(&self) -> bool {
        self.subject.len() <= MAX_GIVEN_NAME && self.parents.len() <= MAX_PARENTS
    }

    /// The commit, of a work tree with this revision.
    pub(crate) fn at(self, revision: &str) -> Commit {
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

/// Longest record. bincode checks announced lengths against it before it reserves memory.
const LONGEST: usize = 16 << 20;

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<LONGEST>()
}

/// The bytes of a record.
pub(crate) fn pack(record: &impl Serialize) -> Result<Vec<u8>, DecodeError> {
    bincode::serde::encode_to_vec(record, config())
        .ok()
        .filter(|bytes| bytes.len() <= LONGEST)
        .ok_or(DecodeError("a record is longer than 16 MiB"))
}

/// The record in these bytes, all of which it takes.
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
    match ids.all(valid) {
        true => Ok(modules),
        false => Err(DecodeError("a GNU build id is empty, zero or too long")),
    }
}
