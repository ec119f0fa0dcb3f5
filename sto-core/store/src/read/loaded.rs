//! Types of the data that a store returns.

use crate::codec::ProfileOrigin;
use sto_model::id::{BuildId, ProfileId};
use sto_model::trace::RunCalls;
use sto_model::tree::{LineCost, NodeIx, SelfCosts, StackTree, TimeSlices};
use sto_model::units::{Bytes, SampleType};
use sto_model::{Build, Commit, FrameTable, GnuBuildId, Profile, SourceFileDigests};

/// The result of adding a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Added {
    /// The profile is new.
    New {
        /// The profile's content id.
        id: ProfileId,
        /// Packed size of everything that was written for it.
        stored: Bytes,
        /// Packed size of its slices of time; zero if none are kept.
        slices: Bytes,
        /// Packed size of its metrics over time; zero if it has none.
        metrics: Bytes,
        /// Packed size of its calls over time; zero if it has none.
        calls: Bytes,
        /// Packed size of all its calls; zero if they are not kept.
        kept: Bytes,
        /// The profile that this one replaced for the same source and build. That one came from another store,
        /// and a profile whose source was read for this store takes precedence.
        instead_of: Option<(ProfileId, ProfileOrigin)>,
    },
    /// The source is already stored for this build, as this profile.
    AlreadyStored(ProfileId),
    /// The source is already stored; only its metrics or calls over time were added or replaced.
    Given {
        /// The profile's content id.
        id: ProfileId,
        /// Packed size of its metrics over time; zero if unchanged.
        metrics: Bytes,
        /// Packed size of its calls over time; zero if unchanged.
        calls: Bytes,
        /// Packed size of all its calls, if they are newly kept.
        kept: Bytes,
    },
}

impl Added {
    /// The profile that represents the source now.
    pub fn id(&self) -> ProfileId {
        match *self {
            Added::New { id, .. } | Added::AlreadyStored(id) | Added::Given { id, .. } => id,
        }
    }

    /// Whether this addition stored all calls of the profile.
    #[doc(hidden)]
    pub fn keeps_calls(&self) -> bool {
        match *self {
            Added::New { kept, .. } | Added::Given { kept, .. } => kept > Bytes(0),
            Added::AlreadyStored(_) => false,
        }
    }

    /// Whether the profile was not stored before.
    pub fn is_new(&self) -> bool {
        matches!(self, Added::New { .. })
    }
}

/// A stored build and its profiles.
#[derive(Clone, Debug)]
pub struct StoredBuild {
    /// The build's content id.
    pub id: BuildId,
    /// The build's metadata.
    pub build: Build,
    /// Its profiles, oldest recording first, then by id.
    pub profiles: Vec<StoredProfile>,
    /// Names of the build's tags, in ascending order.
    pub tags: Vec<String>,
}

/// A stored profile.
#[derive(Clone, Debug)]
pub struct StoredProfile {
    /// The profile's content id.
    pub id: ProfileId,
    /// The profile's metadata.
    pub profile: Profile,
    /// GNU build id of the main program in this recording.
    pub gnu_build_id: Option<GnuBuildId>,
    /// Revision of the work tree that was given with this profile.
    pub revision: Option<String>,
    /// The commit of that revision, if its metadata is known.
    pub commit: Option<Commit>,
    /// Packed size of the profile's own counts and record. Frames and stacks are shared and not included.
    pub stored: Bytes,
    /// The part of `stored` that is slices of time; zero if none are kept.
    pub slices: Bytes,
}

/// Stacks and costs of some profiles of one executable.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks that at least one of the profiles has, and their callers.
    pub tree: StackTree,
    /// For each profile asked for, in that order, its self costs by sample type.
    pub costs: Vec<Vec<SelfCosts>>,
}

/// Stacks of a build and their costs, summed over all or some of its profiles.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadedBuild {
    /// Number of profiles in the sums.
    pub profiles: usize,
    /// The sample types of the profiles, in order of first occurrence.
    pub sample_types: Vec<SampleType>,
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks that at least one of the profiles has, and their callers.
    pub tree: StackTree,
    /// Self costs by sample type.
    pub costs: Vec<SelfCosts>,
}

/// Line costs of one profile.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadedLines {
    /// The frames with line costs.
    pub frames: FrameTable,
    /// Line costs by sample type, in the order of frame and line.
    pub lines: Vec<Vec<LineCost>>,
    /// Digests of source files, if debug info contains them.
    pub sources: SourceFileDigests,
}

/// Costs of one profile by context and slice of time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedSlices {
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks of the profile, as [`Snapshot::load`](crate::Snapshot::load) returns them for this profile.
    pub tree: StackTree,
    /// The costs, which add up to the self costs that [`Snapshot::load`](crate::Snapshot::load) returns.
    pub slices: TimeSlices,
}

/// Calls of one profile over time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedCalls {
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks of the profile, as [`Snapshot::load`](crate::Snapshot::load) returns them for this profile.
    pub tree: StackTree,
    /// The calls.
    pub calls: RunCalls<NodeIx>,
}
