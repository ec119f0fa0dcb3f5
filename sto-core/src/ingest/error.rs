//! Errors of ingestion.

use crate::intern::InternError;
use sto_formats::{FormatError, excerpt};
use sto_model::Cancelled;
use sto_model::Hint;
use sto_store::StoreError;

/// An error of ingesting a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The file cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The samples cannot be interned.
    #[error("{path}: {source}")]
    Intern {
        /// The file.
        path: String,
        /// The cause.
        source: InternError,
    },
    /// No version was given for the build, and the recording has no build id of the program.
    #[error(
        "{path}: the recording has no GNU build id of {} to name the build after; give the build a name",
        excerpt(program.as_bytes())
    )]
    NoBuildName {
        /// The file.
        path: String,
        /// The main program.
        program: String,
    },
    /// A name, label or metric that the user gave exceeds a limit.
    #[error("{path}: {what} has {found} {unit}, but the limit is {limit}")]
    TooLong {
        /// The file.
        path: String,
        /// The thing that is too long: `the executable's name`.
        what: &'static str,
        /// The number given.
        found: usize,
        /// The unit of the numbers: `bytes`.
        unit: &'static str,
        /// The maximum.
        limit: usize,
    },
    /// Too many samples are unresolved, truncated or lost for [`IngestOptions::strict`](super::IngestOptions::strict).
    #[error("{path}: not stored, because its stacks are of too low quality: {problems}")]
    LowQuality {
        /// The file.
        path: String,
        /// Each measure that exceeds its limit, with the limit and a remedy.
        problems: String,
    },
    /// The profile breaks a rule of the store, such as a limit.
    #[error("{path}: cannot store the profile: {why}")]
    Refused {
        /// The file.
        path: String,
        /// The broken rule.
        why: &'static str,
    },
    /// Ingestion was cancelled. Of several profiles, those stored before are in the store.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IngestError {
    /// Returns a hint for resolving the error.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            IngestError::Format(error) => error.hint(),
            IngestError::Store(error) => error.hint(),
            IngestError::NoBuildName { .. } => Some(Hint::NameBuild),
            IngestError::Intern {
                source: InternError::NoTime { .. },
                ..
            } => Some(Hint::WholeTime),
            _ => None,
        }
    }
}
