//! Verifying a store: everything is read, hashed and counted again.
//!
//! ```text
//! damages    what was found, and whom it concerns
//! records    executables, builds, profiles, module lists: checksums, ids, numbers, references, counts
//! columns    what columns there are; those that nobody refers to
//! shared     packs of frames and nodes, module lists
//! profiles   costs and lines of every profile, and the sums of builds
//! ```
//!
//! A damage ends no search: what can still be read is. Nothing is written. Reads are guarded one by
//! one, on whichever thread they are.

mod columns;
mod damages;
mod profiles;
mod records;
mod shared;
#[cfg(test)]
mod tests;

use crate::error::{InternalError, StoreError};
use crate::file::lock::Turn;
use crate::file::open;
use crate::guard::guarded;
use crate::read::cut::ExecutableTree;
use crate::read::rows::Rows;
use columns::Columns;
use damages::Corruptions;
use records::Records;
use serde::{Deserialize, Serialize};
use std::path::Path;
use sto_model::Cancelled;
use sto_model::units::Bytes;

pub use damages::{Concerns, Corruption};

/// What verifying a store found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Whether nothing is wrong.
    pub sound: bool,
    /// What was checked.
    pub checked: Checked,
    /// Number of profiles that no damage concerns.
    pub sound_profiles: u64,
    /// Everything that is wrong, in the order of tables and keys. None in a sound store.
    pub damages: Vec<Corruption>,
}

/// How much of each thing was found in a store, and checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Checked {
    /// Number of executables.
    pub executables: u64,
    /// Number of builds.
    pub builds: u64,
    /// Number of profiles.
    pub profiles: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of nodes, of all executables.
    pub nodes: u64,
    /// Number of records.
    pub records: u64,
    /// Number of packed columns.
    pub columns: u64,
    /// Size of the file.
    pub bytes: Bytes,
}

/// Called with what was checked so far; may end it there.
pub(crate) type Progress<'a> = dyn FnMut(&Checked) -> Result<(), Cancelled> + 'a;

/// Verifies the store in this file.
///
/// Memory: all frames, and 16 bytes for each; 8 a node, of one executable at a time; what the profiles of one build
/// add up to, twice; and the profiles that are being read.
pub(crate) fn verify(
    path: &Path,
    turn: &Turn,
    progress: &mut Progress<'_>,
) -> Result<Verification, StoreError> {
    let mut checked = Checked {
        bytes: open::file_size(path)?,
        ..Checked::default()
    };
    let mut damages = Corruptions::default();
    if let Err(error) = guarded(|| open::checked(path, turn).map(drop)) {
        damages.file(error.at(path, "read"))?;
    }
    // Read as every reader does, so that no damage hides behind a repair.
    let read = guarded(|| {
        let file = open::reading(path, turn)?;
        let rows = Rows::open(&file.begin()?)?;
        Ok(walk(&rows, &mut checked, &mut damages, progress))
    });
    let sound_profiles = match read {
        Ok(records) => records?.sound_profiles(damages.all()),
        Err(error) => {
            damages.file(error.at(path, "read"))?;
            0
        }
    };
    let damages = damages.finish();
    let damages = damages.map_err(|error| InternalError::from(error).at(path, "read"))?;
    Ok(Verification {
        sound: damages.is_empty(),
        checked,
        sound_profiles,
        damages,
    })
}

fn walk(
    rows: &Rows,
    checked: &mut Checked,
    damages: &mut Corruptions,
    progress: &mut Progress<'_>,
) -> Result<Records, Cancelled> {
    let records = Records::read(rows, damages);
    let mut columns = Columns::read(rows, damages);
    checked.records = records.entries;
    checked.columns = columns.len();
    checked.executables = records.executables.len() as u64;
    checked.builds = records.builds.len() as u64;
    checked.profiles = records.profiles.len() as u64;
    let by_build = records.by_build();
    records.check(&by_build, &rows.contents, damages);
    records::tags(rows, damages);
    shared::module_lists(rows, &records, &mut columns, damages);
    checked.frames = shared::frames(rows, &mut columns, damages);
    // What keeps stacks from being read was found already.
    let stored = damages.keep(guarded(|| rows.frames()), Concerns::Everything);
    for (id, executable) in &records.executables {
        progress(checked)?;
        let before = damages.all().len();
        let nodes = shared::nodes(rows, executable, &mut columns, damages);
        checked.nodes += nodes;
        let is_sound = damages.all().len() == before;
        let stacks = stored
            .as_ref()
            .filter(|_| is_sound)
            .and_then(|frames| guarded(|| ExecutableTree::unpack(rows, frames, executable)).ok());
        let executable = profiles::Tree {
            id: *id,
            stacks,
            nodes_end: executable.nodes,
        };
        profiles::check(
            rows,
            &records,
            &by_build,
            &executable,
            &mut columns,
            damages,
            &mut || progress(checked),
        )?;
    }
    columns.leftovers(rows, damages);
    Ok(records)
}
