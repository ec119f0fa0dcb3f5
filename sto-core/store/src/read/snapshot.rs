//! One state of a store, and queries of it.

use crate::error::InternalError;
use crate::file::lock::Turn;
use crate::file::reading::ReadState;
use crate::file::state::StateId;
use crate::guard::guarded;
use crate::read::rows::Rows;
use crate::read::{builds, calls, metrics, slices};
use crate::tables::{Column, Record};
use crate::{
    Loaded, LoadedBuild, LoadedCalls, LoadedLines, LoadedSlices, ProfileOrigin, Store, StoreError,
    StoreOptions, StoredBuild,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_model::id::{BuildId, BuildRecordingId, ExecutableId, ProfileId};
use sto_model::tree::SampleContext;
use sto_model::units::Bytes;
use sto_model::{Build, FrameIx, FrameTable, RunMetrics};

/// One state of a store. All queries see this state, whatever others write or prune in the meantime.
///
/// Clones are cheap, and any number of threads may query it and other snapshots at the same time. The data
/// is read from the store's file, which stays open until the last clone is dropped. No writer
/// [waits for that](Store::snapshot).
#[derive(Clone)]
pub struct Snapshot(Arc<SnapshotData>);

struct SnapshotData {
    state: Arc<ReadState>,
    path: PathBuf,
    size: Bytes,
    turn: Arc<Turn>,
}

impl Snapshot {
    /// Opens the store at this path and takes a snapshot of it. Like [`Store::snapshot`], but opens
    /// the file only once.
    ///
    /// # Errors
    /// Like [`Store::open`].
    pub fn open(path: &Path, options: StoreOptions) -> Result<Snapshot, StoreError> {
        Store::at(path, options)?.snapshot()
    }

    /// Creates a snapshot of a file of this size. Errors name this path.
    pub(crate) fn new(
        state: Arc<ReadState>,
        (path, size): (&Path, Bytes),
        turn: Arc<Turn>,
    ) -> Snapshot {
        Snapshot(Arc::new(SnapshotData {
            state,
            path: path.to_owned(),
            size,
            turn,
        }))
    }

    /// The id of this state. It equals [`Store::state`] until the store is changed.
    pub fn state(&self) -> StateId {
        self.0.state.id
    }

    /// Runs a query.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Rows) -> Result<T, InternalError>,
    ) -> Result<T, StoreError> {
        guarded(|| work(&self.0.state.rows)).map_err(|error| error.at(self.path(), "read"))
    }

    /// How operations take turns at this store's file, for operations that write another file.
    pub(crate) fn turn(&self) -> &Turn {
        &self.0.turn
    }

    /// The path that errors name.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// The size of the store's file; zero in memory and if nothing was stored yet.
    pub fn file_size(&self) -> Bytes {
        self.0.size
    }

    /// Whether the store has a profile.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn has(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| rows.has_record(Record::Profile, profile.0))
    }

    /// The profile of a recording in a build, and the profile's origin; `None` if the store has no such profile.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn profile_of_recording(
        &self,
        reading: BuildRecordingId,
    ) -> Result<Option<(ProfileId, ProfileOrigin)>, StoreError> {
        let found = self.read(|rows| rows.reading(reading))?;
        Ok(found.map(|found| (found.profile, found.from)))
    }

    /// All builds with their profiles, ordered by executable name, then by the time of their first
    /// recording, then by version.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn builds(&self) -> Result<Vec<StoredBuild>, StoreError> {
        self.read(builds::builds)
    }

    /// A build with the metadata of all its profiles; `None` if it is not in the store.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn build(&self, build: BuildId) -> Result<Option<Build>, StoreError> {
        self.read(|rows| builds::build(rows, build))
    }

    /// Loads the stacks and self costs of profiles of one executable.
    ///
    /// The tree is in preorder, children in the order of their frames. It does not depend on the order
    /// in which profiles were added.
    ///
    /// # Errors
    /// Returns an error if a profile does not exist or the store is damaged.
    pub fn load(
        &self,
        executable: ExecutableId,
        profiles: &[ProfileId],
    ) -> Result<Loaded, StoreError> {
        self.read(|rows| builds::load(rows, executable, profiles))
    }

    /// Loads the stacks of a build and their self costs, summed over its profiles. The sums are kept
    /// up to date as profiles are added, so loading many profiles is as fast as one.
    ///
    /// # Errors
    /// Returns an error if the build does not exist or the store is damaged.
    pub fn load_build(&self, build: BuildId) -> Result<LoadedBuild, StoreError> {
        self.read(|rows| builds::load_build(rows, build, None))
    }

    /// Like [`Snapshot::load_build`], summed over some of the build's distinct profiles. Only a few profiles are
    /// in memory at a time.
    ///
    /// # Errors
    /// Returns an error if the build does not exist or lacks one of these profiles, or the store is damaged.
    pub fn load_sum(
        &self,
        build: BuildId,
        profiles: &[ProfileId],
    ) -> Result<LoadedBuild, StoreError> {
        self.read(|rows| builds::load_build(rows, build, Some(profiles)))
    }

    /// Loads all frames of the store, ordered as [`Frame`](sto_model::Frame)s.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn load_frames(&self) -> Result<FrameTable, StoreError> {
        self.read(builds::load_frames)
    }

    /// Like [`Snapshot::load_frames`], and also returns for each of these executables the frames in its stacks; none if the
    /// store has no such executable.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn load_frames_of(
        &self,
        executables: &[ExecutableId],
    ) -> Result<(FrameTable, Vec<Vec<FrameIx>>), StoreError> {
        self.read(|rows| builds::load_frames_of(rows, executables))
    }

    /// Loads the line costs of a profile and the digests of its source files.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist or the store is damaged.
    pub fn load_lines(&self, profile: ProfileId) -> Result<LoadedLines, StoreError> {
        self.read(|rows| builds::load_lines(rows, profile))
    }

    /// Loads the costs of a profile by context and slice of time; `None` if they were not kept.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist or the store is damaged.
    pub fn load_slices(&self, profile: ProfileId) -> Result<Option<LoadedSlices>, StoreError> {
        self.read(|rows| slices::load(rows, profile))
    }

    /// Loads the contexts (threads and labels) of a profile's samples, in ascending order; `None` if its
    /// slices of time were not kept.
    ///
    /// # Errors
    /// Like [`Snapshot::load_slices`].
    pub fn load_contexts(
        &self,
        profile: ProfileId,
    ) -> Result<Option<Vec<SampleContext>>, StoreError> {
        self.read(|rows| slices::contexts(rows, profile))
    }

    /// Loads the metrics over time of a profile; `None` if it has none.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist, the metrics would take more memory than
    /// [allowed](sto_model::memory), or the store is damaged.
    pub fn load_metrics(&self, profile: ProfileId) -> Result<Option<RunMetrics>, StoreError> {
        self.read(|rows| {
            let record = builds::profile_record(rows, profile)?;
            metrics::load(rows, profile, &record)
        })
    }

    /// Loads the calls over time of a profile; `None` if it has none.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist, the calls would take more memory than
    /// [allowed](sto_model::memory), or the store is damaged.
    pub fn load_calls(&self, profile: ProfileId) -> Result<Option<LoadedCalls>, StoreError> {
        self.read(|rows| calls::load(rows, profile))
    }

    /// Whether a profile has addresses whose names may be found later.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist or the store is damaged.
    pub fn has_addresses(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| {
            let record = builds::profile_record(rows, profile)?;
            rows.has_column(Column::Addresses(record.number))
        })
    }

    /// Removed profiles, each with the profile that replaced it when names of its functions were found.
    ///
    /// # Errors
    /// Returns an error if the store is damaged.
    pub fn replaced(&self) -> Result<BTreeMap<ProfileId, ProfileId>, StoreError> {
        self.read(|rows| {
            let replaced = rows.records(Record::Replaced)?.into_iter();
            Ok(replaced
                .map(|found| (ProfileId(found.id), found.record))
                .collect())
        })
    }

    /// Whether a profile has costs by context and slice of time.
    ///
    /// # Errors
    /// Like [`Snapshot::load_slices`].
    pub fn has_slices(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| Ok(builds::profile_record(rows, profile)?.slices > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::Snapshot;
    use crate::Store;

    const fn asked_by_any_thread<T: Send + Sync>() {}

    const _: () = asked_by_any_thread::<Snapshot>();
    const _: () = asked_by_any_thread::<Store>();
}
