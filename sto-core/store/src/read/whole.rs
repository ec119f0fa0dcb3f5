//! Profiles as they went in.

use crate::StoreError;
use crate::codec::ExecutableRecord;
use crate::error::{InternalError, Result};
use crate::read::builds::{build_of, profile_record};
use crate::read::cut::ExecutableTree;
use crate::read::snapshot::Snapshot;
use crate::tables::Record;
use rayon::prelude::*;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::tree::Interned;

impl Snapshot {
    /// Loads profiles of one executable as they went in, with their slices, metrics and calls, and gives each to
    /// `work`, on every core. As many as there are cores are in memory at a time.
    ///
    /// # Errors
    /// Where a profile does not exist or is of another executable, or the store is damaged; and those of `work`.
    /// Of several, it is that of the first profile; of those after it, some may have been given.
    pub fn load_each<E: From<StoreError> + Send>(
        &self,
        executable: ExecutableId,
        profiles: &[ProfileId],
        work: impl Fn(ProfileId, Interned) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let Some(&first) = profiles.first() else {
            return Ok(());
        };
        let stored: (ExecutableRecord, _) = self.read(|rows| {
            let record = rows.record(Record::Executable, executable.0)?;
            let record = record.ok_or(InternalError::NoProfile(first))?;
            Ok((record, rows.frames()?))
        })?;
        let (executable, frames) = stored;
        let tree = self.read(|rows| ExecutableTree::unpack(rows, &frames, &executable))?;
        let load = |&id: &ProfileId| {
            // Guarded one by one: these may be other threads.
            let interned = self.read(|rows| {
                let record = profile_record(rows, id)?;
                match build_of(rows, &record)?.executable == executable.name {
                    true => tree.profile(rows, &record),
                    false => Err(InternalError::NoProfile(id)),
                }
            })?;
            work(id, interned)
        };
        for some in profiles.chunks(rayon::current_num_threads()) {
            let done: Vec<Result<(), E>> = some.par_iter().map(load).collect();
            done.into_iter().collect::<Result<(), E>>()?;
        }
        Ok(())
    }
}
