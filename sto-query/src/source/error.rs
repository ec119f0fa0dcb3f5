//! Why the source of a function cannot be shown.

use crate::functions::FunctionError;
use std::io;
use std::path::PathBuf;

/// Why the source of a function cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The name is of several functions, and the lines are of one.
    #[error(transparent)]
    Function(FunctionError),
    /// A folder that was named cannot be read.
    #[error("cannot read the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A source file that was found cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
