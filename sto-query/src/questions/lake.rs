//! Profiles as a dataset of Parquet files.

use crate::QueryError;
use crate::lake::{Added, Dataset};
use crate::sources::{Named, Sources};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use sto_core::files::Temporaries;

/// Profiles for a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LakeRequest {
    /// The profiles; without it, every one of the store.
    pub named: Option<Named>,
    /// The folder of the dataset. Where there is none, it is made.
    pub folder: PathBuf,
}

/// Adds profiles to a dataset of Parquet files. Any number of processes may do so at once.
///
/// # Errors
/// Where nothing has the name, the profiles cannot be read, or the dataset cannot be written.
pub fn add_to_lake(
    sources: &Sources,
    request: &LakeRequest,
    temporaries: &Temporaries,
) -> Result<Added, QueryError> {
    let located = sources.whole(request.named.as_ref())?;
    let dataset = Dataset::open(&request.folder, temporaries.clone())?;
    let mut result = Added::default();
    for of_build in &located {
        let selection = &of_build.selection;
        for run in &selection.profiles {
            match dataset.add(&of_build.store, &selection.build, run)? {
                true => result.added += 1,
                false => result.kept += 1,
            }
        }
    }
    Ok(result)
}
