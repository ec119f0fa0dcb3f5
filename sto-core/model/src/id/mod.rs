//! Content addresses: the hashing rules of SPEC.md.
//!
//! Every id is a BLAKE3 digest, truncated to 128 bits, of a canonical encoding: a domain string with
//! the kind of id and the version of its encoding, then the fields in order. Integers are little-endian
//! with a fixed width; strings are preceded by their length in bytes as a 64-bit integer. The fields of
//! frame and profile ids are defined with their types in [`crate`] and [`crate::tree`].

pub(crate) mod canonical;

use crate::{ParseError, decode_hex, serde_text_or_parts};
use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use canonical::Field::{Id, Text};
use canonical::digest;
use std::fmt;
use std::str::FromStr;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 16]);

        impl fmt::Display for $name {
            /// Formats the id as 32 lower-case hexadecimal digits.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            /// Parses the output of [`Display`](fmt::Display).
            fn from_str(text: &str) -> Result<Self, ParseError> {
                let bytes = decode_hex(text).and_then(|bytes| bytes.try_into().ok());
                let error = || ParseError::new("an id of 32 hexadecimal digits", text);
                bytes.map($name).ok_or_else(error)
            }
        }

        serde_text_or_parts!($name, [u8; 16], |id| id.0, |bytes| Some($name(bytes)));
    )*};
}

ids! {
    /// Content address of a frame.
    FrameId,
    /// Content address of an executable.
    ExecutableId,
    /// Content address of a call tree node: its executable, its frame and the node of its caller.
    NodeId,
    /// Content address of a build.
    BuildId,
    /// Content address of a profile: its stacks, costs and properties of its recording.
    ProfileId,
    /// Digest of a recording's bytes, and of options with which it was read.
    RecordingDigest,
    /// Content address of a build and a recording. A store has at most one profile for each.
    BuildRecordingId,
}

impl ExecutableId {
    /// `H("sto.executable.v1", name)`.
    pub fn from_name(name: &str) -> Self {
        ExecutableId(digest("sto.executable.v1", &[Text(name)]))
    }
}

impl NodeId {
    /// `H("sto.node.v1", parent or zero, executable, frame)`.
    pub fn new(parent: Option<NodeId>, executable: ExecutableId, frame: FrameId) -> Self {
        let parent = parent.map_or([0; 16], |id| id.0);
        let fields = [Id(parent), Id(executable.0), Id(frame.0)];
        NodeId(digest("sto.node.v1", &fields))
    }
}

impl BuildId {
    /// `H("sto.build.v1", executable, version)`.
    pub fn new(executable: ExecutableId, version: &str) -> Self {
        BuildId(digest("sto.build.v1", &[Id(executable.0), Text(version)]))
    }
}

impl BuildRecordingId {
    /// `H("sto.build-source.v1", build, source)`.
    pub fn new(build: BuildId, source: RecordingDigest) -> Self {
        BuildRecordingId(digest("sto.build-source.v1", &[Id(build.0), Id(source.0)]))
    }
}

impl RecordingDigest {
    /// Computes the digest of the unmodified bytes of a recording: BLAKE3, truncated to 128 bits.
    pub fn hash_bytes(bytes: &[u8]) -> Self {
        let mut hasher = RecordingHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Joins the hashes of the parts of a recording, of which there is at least one.
    #[doc(hidden)]
    pub fn from_parts(parts: &[RecordingPart]) -> Self {
        fn join(parts: &[RecordingPart]) -> RecordingPart {
            match split(parts) {
                None => parts[0],
                Some((left, right)) => {
                    merge_subtrees_non_root(&join(left), &join(right), Mode::Hash)
                }
            }
        }
        // In BLAKE3's tree, the left part is the largest power of two that leaves something for the right one.
        fn split(parts: &[RecordingPart]) -> Option<(&[RecordingPart], &[RecordingPart])> {
            let right = parts.len().checked_sub(1).filter(|&right| right > 0)?;
            Some(parts.split_at(1 << right.ilog2()))
        }
        let hash = match split(parts) {
            None => blake3::Hash::from_bytes(parts[0]),
            Some((left, right)) => merge_subtrees_root(&join(left), &join(right), Mode::Hash),
        };
        RecordingDigest(canonical::truncate(hash))
    }

    /// Combines the digest with an option that changes the stacks that are read from the recording:
    /// `H("sto.reading.v1", source, option, value)`.
    #[must_use]
    pub fn with_option(self, option: &str, value: &str) -> Self {
        let fields = [Id(self.0), Text(option), Text(value)];
        RecordingDigest(digest("sto.reading.v1", &fields))
    }
}

/// The hash of a part of a recording.
#[doc(hidden)]
pub type RecordingPart = [u8; 32];

/// Computes a [`RecordingDigest`] incrementally.
#[derive(Clone, Debug, Default)]
pub struct RecordingHasher(blake3::Hasher);

impl RecordingHasher {
    /// Creates a hasher without input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes. They are hashed on this thread, because waking other threads for a piece costs more.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Number of bytes of each part of a recording but the last.
    #[doc(hidden)]
    pub const PART_SIZE: usize = 1 << 20;

    /// Creates a hasher of the part that begins at this byte, a multiple of [`PART_SIZE`](Self::PART_SIZE).
    #[doc(hidden)]
    pub fn for_part(start: u64) -> Self {
        let mut hasher = Self::new();
        hasher.0.set_input_offset(start);
        hasher
    }

    /// Returns the hash of the part, for a recording of this many bytes.
    #[doc(hidden)]
    pub fn finish_part(&self, recording_size: u64) -> RecordingPart {
        if recording_size <= Self::PART_SIZE as u64 {
            return *self.0.finalize().as_bytes();
        }
        self.0.finalize_non_root()
    }

    /// Returns the digest of all bytes so far.
    pub fn finish(&self) -> RecordingDigest {
        RecordingDigest(canonical::truncate(self.0.finalize()))
    }
}
