//! Loads whole profiles, as they were added.

use crate::StoreError;
use crate::codec::ExecutableRecord;
use crate::error::{InternalError, Result};
use crate::read::builds::{build_of, profile_record};
use crate::read::cut::ExecutableTree;
use crate::read::snapshot::Snapshot;
use crate::tables::Record;
use rayon::prelude::*;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::tree::ProfileData;

impl Snapshot {
    /// Loads whole profiles of one executable, with their slices, metrics and calls, and passes each to `work`, on
    /// all cores. The number of profiles in memory is at most the number of cores.
    ///
    /// # Errors
    /// Returns an error if a profile does not exist or belongs to another executable, if the store is damaged, or
    /// if `work` does. Of several errors, returns that of the first profile; `work` may have seen later ones.
    pub fn load_each<E: From<StoreError> + Send>(
        &self,
        executable: ExecutableId,
        profiles: &[ProfileId],
        work: impl Fn(ProfileId, ProfileData) -> Result<(), E> + Sync,
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
            // Each profile is guarded by itself, as it may be read on another thread.
            let interned = self.read(|rows| {
                let record = profile_record(rows, id)?;
                if build_of(rows, &record)?.executable == executable.name {
                    tree.profile(rows, id, &record)
                } else {
                    Err(InternalError::NoProfile(id))
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
