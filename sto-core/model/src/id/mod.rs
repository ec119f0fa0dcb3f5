//! Content addresses: the hashing rules of SPEC.md.
//!
//! Every id is BLAKE3, truncated to 128 bits, over a canonical encoding: a domain tag that names
//! the kind of thing and the version of the rule, then the fields in order; integers little-endian
//! at a fixed width, strings with their length in bytes as a 64-bit integer before them. What an id of
//! a frame or a profile is made of, stands beside these ([`crate`], [`crate::tree`]).

pub(crate) mod canonical;

use crate::{ParseError, bytes_of_hex, serde_text_or_parts};
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
            /// 32 lower-case hexadecimal digits.
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

            /// Reads what [`Display`](fmt::Display) writes.
            fn from_str(text: &str) -> Result<Self, ParseError> {
                let bytes = bytes_of_hex(text).and_then(|bytes| bytes.try_into().ok());
                let wrong = || ParseError::new("an id of 32 hexadecimal digits", text);
                bytes.map($name).ok_or_else(wrong)
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
    /// Content address of a stack: its last frame, and the stack that called it.
    NodeId,
    /// Content address of a build.
    BuildId,
    /// Content address of a profile: of its stacks and counts, and of what its recording says.
    ProfileId,
    /// Digest of the bytes of a recording.
    SourceDigest,
    /// Address of what a build has of a source: a store has one profile of it at most.
    ReadingId,
}

impl ExecutableId {
    /// `H("sto.executable.v1", name)`.
    pub fn of(name: &str) -> Self {
        ExecutableId(digest("sto.executable.v1", &[Text(name)]))
    }
}

impl NodeId {
    /// `H("sto.node.v1", parent or zero, executable, frame)`.
    pub fn of(parent: Option<NodeId>, executable: ExecutableId, frame: FrameId) -> Self {
        let parent = parent.map_or([0; 16], |id| id.0);
        let fields = [Id(parent), Id(executable.0), Id(frame.0)];
        NodeId(digest("sto.node.v1", &fields))
    }
}

impl BuildId {
    /// `H("sto.build.v1", executable, version)`.
    pub fn of(executable: ExecutableId, version: &str) -> Self {
        BuildId(digest("sto.build.v1", &[Id(executable.0), Text(version)]))
    }
}

impl ReadingId {
    /// `H("sto.build-source.v1", build, source)`.
    pub fn of(build: BuildId, source: SourceDigest) -> Self {
        ReadingId(digest("sto.build-source.v1", &[Id(build.0), Id(source.0)]))
    }
}

impl SourceDigest {
    /// BLAKE3 of the source's bytes as they stand, truncated to 128 bits; every core is used.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = SourceHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The source as it is read with an option that makes other stacks of it than reading it without:
    /// `H("sto.reading.v1", source, option, value)`.
    #[must_use]
    pub fn read_with(self, option: &str, value: &str) -> Self {
        let fields = [Id(self.0), Text(option), Text(value)];
        SourceDigest(digest("sto.reading.v1", &fields))
    }
}

/// A [`SourceDigest`] of bytes that come piece by piece.
#[derive(Clone, Debug, Default)]
pub struct SourceHasher(blake3::Hasher);

impl SourceHasher {
    /// The digest of nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on with more bytes, on this thread: waking others for a piece costs more than digesting it.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes, however they were cut.
    pub fn finish(&self) -> SourceDigest {
        SourceDigest(canonical::truncate(self.0.finalize()))
    }
}
