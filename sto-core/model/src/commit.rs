//! Git commits of builds.

use crate::units::UnixSeconds;
use crate::{ParseError, decode_hex, serde_text_or_parts};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The id of a git commit: 20 bytes (SHA-1) or 32 (SHA-256).
///
/// It is formatted and parsed as unabbreviated lower-case hexadecimal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitHash(Vec<u8>);

impl CommitHash {
    /// Creates an id from its bytes. Returns `None` if there are not 20 or 32.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        matches!(bytes.len(), 20 | 32).then(|| CommitHash(bytes.to_vec()))
    }

    /// The bytes of the id.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Extracts the commit id from a revision in the format of `git describe --long --abbrev=40`:
    /// `v1.2-3-gHASH` or `HASH`, with or without `-dirty`. Returns `None` if the id is abbreviated.
    pub fn from_revision(revision: &str) -> Option<Self> {
        let clean = revision.strip_suffix(DIRTY).unwrap_or(revision);
        let hash = clean.rsplit_once("-g").map_or(clean, |(_, hash)| hash);
        hash.parse().ok()
    }
}

/// The suffix of a revision whose work tree had uncommitted changes.
const DIRTY: &str = "-dirty";

impl fmt::Display for CommitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CommitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommitHash({self})")
    }
}

impl FromStr for CommitHash {
    type Err = ParseError;

    /// Parses the output of [`Display`](fmt::Display).
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let hash = decode_hex(text).and_then(|bytes| CommitHash::from_bytes(&bytes));
        hash.ok_or_else(|| ParseError::new("a commit's id of 40 or 64 hexadecimal digits", text))
    }
}

serde_text_or_parts!(CommitHash, Vec<u8>, |hash| hash.0.clone(), |bytes| {
    CommitHash::from_bytes(&bytes)
});

/// The commit that a build was made from. All fields except `dirty` are determined by the id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Commit {
    /// The commit's id.
    pub hash: CommitHash,
    /// The parent commits: none for a root commit, several for a merge.
    pub parents: Vec<CommitHash>,
    /// The author date.
    pub author_time: UnixSeconds,
    /// The first paragraph of the commit message.
    pub subject: String,
    /// Whether the work tree had uncommitted changes.
    pub dirty: bool,
}

impl Commit {
    /// Returns `true` if the revision ends in `-dirty`: the work tree had uncommitted changes.
    pub fn is_dirty(revision: &str) -> bool {
        revision.ends_with(DIRTY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extracts_unabbreviated_ids_from_revisions() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for text in [
            id.to_owned(),
            format!("{id}-dirty"),
            format!("v1.2-0-g{id}"),
            format!("v1-good-13-g{id}-dirty"),
        ] {
            let hash = CommitHash::from_revision(&text).map(|hash| hash.to_string());
            assert_eq!(hash.as_deref(), Some(id), "{text}");
        }
        for text in ["v1.2", "v1.2-3-g0123456", "0123456", "", "-dirty", "-g"] {
            assert_eq!(CommitHash::from_revision(text), None, "{text}");
        }
    }
}
