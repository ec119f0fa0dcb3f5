//! Why a file cannot be ingested.

use crate::intern::InternError;
use sto_formats::{FormatError, excerpt};
use sto_model::Cancelled;
use sto_model::Hint;
use sto_store::StoreError;

/// Why a file cannot be ingested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The file cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Its samples cannot be interned.
    #[error("{path}: {source}")]
    Intern {
        /// The file.
        path: String,
        /// Why.
        source: InternError,
    },
    /// No name for the build is given, and the recording has none.
    #[error(
        "{path}: the recording has no GNU build id of {} to name the build after; name it",
        excerpt(program.as_bytes())
    )]
    NoBuildName {
        /// The file.
        path: String,
        /// The main program.
        program: String,
    },
    /// What the user says of the profile is more than a profile may carry.
    #[error("{path}: {what} has {found} {unit}, and may have {limit} at most; give it less")]
    TooLong {
        /// The file.
        path: String,
        /// What it is: `the executable's name`.
        what: &'static str,
        /// How much was given.
        found: usize,
        /// Of what: `bytes`.
        unit: &'static str,
        /// How much is taken.
        limit: usize,
    },
    /// More of its samples than `strict` allows have no symbol, are cut, or were lost.
    #[error("{path}: not stored, as its stacks are too poor: {problems}")]
    Poor {
        /// The file.
        path: String,
        /// What is too much, the limit, and what to do.
        problems: String,
    },
    /// It was ended early; only those of several profiles that went in before are in the store.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IngestError {
    /// What can be done about it.
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
