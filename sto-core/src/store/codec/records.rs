//! Small records, through bincode 2 with its standard configuration: fields in order without
//! names, integers little-endian in 1 to 9 bytes, lengths before strings and lists.

use super::Flaw;
use crate::model::{Build, Profile};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How much a store holds, and which numbers are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Contents {
    /// Number of builds.
    pub(in crate::store) builds: u32,
    /// Number of frames.
    pub(in crate::store) frames: u32,
    /// Number of the next executable.
    pub(in crate::store) next_executable: u32,
    /// Number of the next profile.
    pub(in crate::store) next_profile: u32,
    /// Number of the next module list.
    pub(in crate::store) next_modules: u32,
}

/// An executable and its tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct ExecutableRecord {
    pub(in crate::store) name: String,
    /// The owner of its node columns.
    pub(in crate::store) number: u32,
    /// Number of nodes.
    pub(in crate::store) nodes: u32,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct BuildRecord {
    pub(in crate::store) build: Build,
    /// Number of its profiles.
    pub(in crate::store) profiles: u32,
    /// Samples of all its profiles.
    pub(in crate::store) samples: u64,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct ProfileRecord {
    /// The owner of its cost columns.
    pub(in crate::store) number: u32,
    /// Packed bytes of what was written with it: its columns, and records that were new.
    pub(in crate::store) written: u64,
    /// Number of its module list.
    pub(in crate::store) modules: u32,
    /// The profile; its modules are left out, as profiles share them.
    pub(in crate::store) profile: Profile,
    /// Packed bytes of its slices of time.
    pub(in crate::store) slices: LastField,
}

/// A last field that is not there where it would be 0, so that it costs those who do not use it
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct LastField(pub(in crate::store) u64);

impl Serialize for LastField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_unit(),
            value => serializer.serialize_u64(value),
        }
    }
}

impl<'de> Deserialize<'de> for LastField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Behind the last byte there is no number; `unpack` checks that no other bytes are there.
        Ok(LastField(u64::deserialize(deserializer).unwrap_or(0)))
    }
}

/// Longest record. bincode checks announced lengths against it before it reserves memory.
const LONGEST: usize = 16 << 20;

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<LONGEST>()
}

/// The bytes of a record.
pub(in crate::store) fn pack(record: &impl Serialize) -> Result<Vec<u8>, Flaw> {
    bincode::serde::encode_to_vec(record, config())
        .ok()
        .filter(|bytes| bytes.len() <= LONGEST)
        .ok_or(Flaw("a record is longer than 16 MiB"))
}

/// The record in these bytes, all of which it takes.
pub(in crate::store) fn unpack<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, Flaw> {
    match bincode::serde::decode_from_slice(bytes, config()) {
        Ok((record, read)) if read == bytes.len() => Ok(record),
        Ok(_) => Err(Flaw("bytes are left over")),
        Err(_) => Err(Flaw("a record cannot be decoded")),
    }
}
