//! Verifies a store: reads, hashes and counts everything.
//!
//! ```text
//! damages    corruption, and the data that it concerns
//! records    executables, builds, profiles, module lists: checksums, ids, numbers, references, counts
//! columns    existing columns, and those that no record refers to
//! shared     packs of frames and nodes, module lists
//! profiles   all profiles, as if they were merged into another store, and the sums of builds
//! ```
//!
//! Corruption does not end the verification; the rest is still read. Nothing is written. Each read is
//! guarded by itself, on its own thread.
//!
//! Memory: all frames and 16 bytes for each; for one executable at a time 8 bytes per node; the summed costs of
//! one build, twice; a few packs and profiles.

mod columns;
mod corruptions;
#[cfg(test)]
mod forged;
mod profiles;
mod records;
mod shared;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod tests;

use crate::error::{InternalError, StoreError};
use crate::file::lock::Turn;
use crate::file::open;
use crate::guard::guarded;
use crate::read::cut::ExecutableTree;
use crate::read::rows::Rows;
use columns::Columns;
use corruptions::Corruptions;
use records::Records;
use serde::{Deserialize, Serialize};
use std::path::Path;
use sto_model::Cancelled;
use sto_model::units::Bytes;

pub use corruptions::{Concerns, Corruption};

/// The result of verifying a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Whether the store is undamaged.
    pub sound: bool,
    /// The number of checked things.
    pub checked: Checked,
    /// Number of profiles that no corruption concerns.
    pub sound_profiles: u64,
    /// All corruption, in the order of tables and keys. Empty for a sound store.
    pub damages: Vec<Corruption>,
}

/// The number of things of each kind that were found and checked.
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
    /// Number of nodes of all executables.
    pub nodes: u64,
    /// Number of records.
    pub records: u64,
    /// Number of packed columns.
    pub columns: u64,
    /// Size of the file.
    pub bytes: Bytes,
}

/// Called with the progress so far; may cancel the verification.
pub(crate) type Progress<'a> = dyn FnMut(&Checked) -> Result<(), Cancelled> + 'a;

/// Verifies the store in this file.
///
/// Memory holds all frames and 16 bytes for each; 8 bytes per node of one executable at a time; twice
/// the sums of one build; and the profiles that are being read.
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
    if let Err(error) = guarded(|| open::open_and_check(path, turn).map(drop)) {
        damages.add_file_damage(error.at(path, "read"))?;
    }
    // Reads like every other reader, so that no repair hides damage.
    let read = guarded(|| {
        let file = open::open_for_reading(path, turn)?;
        let rows = Rows::open(&file.begin()?)?;
        Ok(walk(&rows, &mut checked, &mut damages, progress))
    });
    let sound_profiles = match read {
        Ok(records) => records?.sound_profiles(damages.all()),
        Err(error) => {
            damages.add_file_damage(error.at(path, "read"))?;
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
    // Errors here were already reported when the packs were checked.
    let stored = damages.record_error(guarded(|| rows.frames()), Concerns::Everything);
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
