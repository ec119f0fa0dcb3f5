//! Why a store cannot be opened, read or written.

use std::path::PathBuf;

/// Why a store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store in the folder.
    #[error("there is no store in {}; `sto ingest` makes one", folder.display())]
    NotFound {
        /// The folder.
        folder: PathBuf,
    },
}
