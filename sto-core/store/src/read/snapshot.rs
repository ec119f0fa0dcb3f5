//! One state of a store, and the questions that it answers.

use crate::error::InternalError;
use crate::file::lock::Turn;
use crate::file::open::Reading;
use crate::guard::guarded;
use crate::read::rows::Rows;
use crate::read::{builds, calls, metrics, slices};
use crate::tables::{Column, Record};
use crate::{
    CameFrom, Loaded, LoadedBuild, LoadedCalls, LoadedLines, LoadedSlices, Store, StoreError,
    StoreOptions, StoredBuild,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_model::id::{BuildId, ExecutableId, ProfileId, ReadingId};
use sto_model::tree::Context;
use sto_model::units::Bytes;
use sto_model::{Build, FrameTable, RunMetrics};

/// One state of a store: every answer is of it, whatever others write or prune meanwhile.
///
/// Clones are cheap, and any number of threads may ask, and ask several stores at once. What it reads is in
/// the store's file, which is open [until the last clone is dropped](Store::snapshot).
#[derive(Clone)]
pub struct Snapshot(Arc<Taken>);

struct Taken {
    // Goes before the file that it is read from.
    rows: Rows,
    _file: Closing,
    path: PathBuf,
    size: Bytes,
    turn: Arc<Turn>,
}

/// A file that is closed when all was read. redb panics on some damaged files only then, too.
struct Closing(Option<Reading>);

impl Drop for Closing {
    fn drop(&mut self) {
        let file = self.0.take();
        let _ = guarded(|| {
            drop(file);
            Ok(())
        });
    }
}

impl Snapshot {
    /// What the store at this path holds now: [`Store::snapshot`] for who asks and does not write, with the
    /// file opened once.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(path: &Path, options: StoreOptions) -> Result<Snapshot, StoreError> {
        Store::at(path, options)?.snapshot()
    }

    /// What a file of this size holds now; errors name this path.
    pub(crate) fn of(
        file: Reading,
        (path, size): (&Path, Bytes),
        turn: Arc<Turn>,
    ) -> Result<Snapshot, InternalError> {
        Ok(Snapshot(Arc::new(Taken {
            rows: Rows::open(&file.begin()?)?,
            _file: Closing(Some(file)),
            path: path.to_owned(),
            size,
            turn,
        })))
    }

    /// Does work that reads.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Rows) -> Result<T, InternalError>,
    ) -> Result<T, StoreError> {
        guarded(|| work(&self.0.rows)).map_err(|error| error.at(self.path(), "read"))
    }

    /// How it takes its turn at other files.
    pub(crate) fn turn(&self) -> &Turn {
        &self.0.turn
    }

    /// What errors name.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Size of the store's file; zero in memory, and where nothing was stored yet.
    pub fn file_size(&self) -> Bytes {
        self.0.size
    }

    /// Whether it has a profile.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn has(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| rows.has_record(Record::Profile, profile.0))
    }

    /// The profile that stands for a source in a build, if there is one, and where it came from.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn reading(&self, reading: ReadingId) -> Result<Option<(ProfileId, CameFrom)>, StoreError> {
        let found = self.read(|rows| rows.reading(reading))?;
        Ok(found.map(|found| (found.profile, found.from)))
    }

    /// Every build with its profiles, ordered by executable name, then by its first recording,
    /// then by version.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn builds(&self) -> Result<Vec<StoredBuild>, StoreError> {
        self.read(builds::builds)
    }

    /// What is known of a build, by all its profiles; `None` where the store does not have it.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn build(&self, build: BuildId) -> Result<Option<Build>, StoreError> {
        self.read(|rows| builds::build(rows, build))
    }

    /// Loads the stacks and self costs of profiles that belong to one executable.
    ///
    /// The tree is in preorder and depends on the profiles alone, not on the order in which they
    /// were added: children stand in the order of their frames.
    ///
    /// # Errors
    /// Where a profile does not exist, or the store is damaged.
    pub fn load(
        &self,
        executable: ExecutableId,
        profiles: &[ProfileId],
    ) -> Result<Loaded, StoreError> {
        self.read(|rows| builds::load(rows, executable, profiles))
    }

    /// Loads the stacks of a build and their self costs, added up over its profiles. They were added
    /// up as the profiles came in, so many are read as fast as one.
    ///
    /// # Errors
    /// Where the build does not exist, or the store is damaged.
    pub fn load_build(&self, build: BuildId) -> Result<LoadedBuild, StoreError> {
        self.read(|rows| builds::load_build(rows, build, None))
    }

    /// Loads the same over some of a build's profiles, each named once. However many they are, a few of them
    /// are in memory at a time.
    ///
    /// # Errors
    /// Where the build does not exist or has not all of these profiles, or the store is damaged.
    pub fn load_sum(
        &self,
        build: BuildId,
        profiles: &[ProfileId],
    ) -> Result<LoadedBuild, StoreError> {
        self.read(|rows| builds::load_build(rows, build, Some(profiles)))
    }

    /// Loads every frame of the store, in the order in which frames compare.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn load_frames(&self) -> Result<FrameTable, StoreError> {
        self.read(builds::load_frames)
    }

    /// Loads the line costs of a profile, and what is known of the text that they are of.
    ///
    /// # Errors
    /// Where the profile does not exist, or the store is damaged.
    pub fn load_lines(&self, profile: ProfileId) -> Result<LoadedLines, StoreError> {
        self.read(|rows| builds::load_lines(rows, profile))
    }

    /// Loads the costs of a profile by context and slice of time; `None` where they were not kept.
    ///
    /// # Errors
    /// Where the profile does not exist, or the store is damaged.
    pub fn load_slices(&self, profile: ProfileId) -> Result<Option<LoadedSlices>, StoreError> {
        self.read(|rows| slices::load(rows, profile))
    }

    /// Loads what samples of a profile were taken in, in ascending order; `None` where its slices of
    /// time were not kept.
    ///
    /// # Errors
    /// As [`Snapshot::load_slices`].
    pub fn load_contexts(&self, profile: ProfileId) -> Result<Option<Vec<Context>>, StoreError> {
        self.read(|rows| slices::contexts(rows, profile))
    }

    /// Loads the metrics over time of a profile; `None` where it has none.
    ///
    /// # Errors
    /// Where the profile does not exist, the metrics would take more memory than [they may](sto_model::memory), or the
    /// store is damaged.
    pub fn load_metrics(&self, profile: ProfileId) -> Result<Option<RunMetrics>, StoreError> {
        self.read(|rows| {
            let record = builds::profile_record(rows, profile)?;
            metrics::of_record(rows, profile, &record)
        })
    }

    /// Loads the calls over time of a profile; `None` where it has none.
    ///
    /// # Errors
    /// Where the profile does not exist, the calls would take more memory than [they may](sto_model::memory), or the
    /// store is damaged.
    pub fn load_calls(&self, profile: ProfileId) -> Result<Option<LoadedCalls>, StoreError> {
        self.read(|rows| calls::load(rows, profile))
    }

    /// Whether addresses of a profile are kept whose names may be found later.
    ///
    /// # Errors
    /// Where the profile does not exist, or the store is damaged.
    pub fn has_addresses(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| {
            let record = builds::profile_record(rows, profile)?;
            rows.has_column(Column::Addresses(record.number))
        })
    }

    /// The profiles that are gone, each with the one that stands in its place since names of its functions were found.
    ///
    /// # Errors
    /// Where the store is damaged.
    pub fn replaced(&self) -> Result<BTreeMap<ProfileId, ProfileId>, StoreError> {
        self.read(|rows| {
            let replaced = rows.records(Record::Replaced)?.into_iter();
            Ok(replaced
                .map(|found| (ProfileId(found.id), found.record))
                .collect())
        })
    }

    /// Whether a profile's costs by context and slice of time are kept.
    ///
    /// # Errors
    /// As [`Snapshot::load_slices`].
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
