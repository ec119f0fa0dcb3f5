//! Executables and their builds.

use super::Commit;
use crate::id::{BuildId, ExecutableId};
use crate::{ParseError, decode_hex, serde_text_or_parts};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The GNU build id of an ELF file: the 1 to 32 bytes of its `NT_GNU_BUILD_ID` note.
///
/// It is formatted and parsed as lower-case hexadecimal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GnuBuildId(Vec<u8>);

impl GnuBuildId {
    /// Maximum length in bytes. Linkers write 8 (xxh64), 16 (md5, uuid) or 20 (sha1).
    pub const MAX_LEN: usize = 32;

    /// Creates a build id from the bytes of its note. Returns `None` if the note is empty or longer than
    /// [`Self::MAX_LEN`], or if all bytes are zero, as perf writes for an unknown build id.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let usable = bytes.len() <= Self::MAX_LEN && bytes.iter().any(|&byte| byte != 0);
        usable.then(|| GnuBuildId(bytes.to_vec()))
    }

    /// The bytes of the note.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for GnuBuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for GnuBuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GnuBuildId({self})")
    }
}

impl FromStr for GnuBuildId {
    type Err = ParseError;

    /// Parses the output of [`Display`](fmt::Display).
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let id = decode_hex(text).and_then(|bytes| GnuBuildId::from_bytes(&bytes));
        id.ok_or_else(|| ParseError::new("a GNU build id of 1 to 32 bytes in hexadecimal", text))
    }
}

serde_text_or_parts!(GnuBuildId, Vec<u8>, |id| id.0.clone(), |bytes| Some(
    GnuBuildId(bytes)
));

/// A program that was profiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Executable {
    /// The program's name, by default the base name of its file.
    pub name: String,
}

impl Executable {
    /// The content address of the executable.
    pub fn id(&self) -> ExecutableId {
        ExecutableId::from_name(&self.name)
    }
}

/// A version of an executable, under a name given by the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Build {
    /// Name of the executable.
    pub executable: String,
    /// The user's name for the version, by default the GNU build id.
    pub version: String,
    /// GNU build id of the main program, if the recording has it.
    pub gnu_build_id: Option<GnuBuildId>,
    /// Revision of the work tree at the time of ingestion, in the format of `git describe`.
    pub revision: Option<String>,
    /// The commit of the revision, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
}

impl Build {
    /// The content address of the build, which depends only on its executable and version.
    pub fn id(&self) -> BuildId {
        BuildId::new(ExecutableId::from_name(&self.executable), &self.version)
    }
}
