//! What a store says of what it holds, and what comes out of it.

use crate::codec::CameFrom;
use sto_model::id::{BuildId, ProfileId};
use sto_model::trace::RunCalls;
use sto_model::tree::{LineCost, NodeIx, SelfCosts, Slices, StackTree};
use sto_model::units::{Bytes, SampleType};
use sto_model::{Build, Commit, FrameTable, GnuBuildId, Profile, SourceDigests};

/// Whether a profile was stored, or stood there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new, and took this many bytes of packed records.
    New {
        /// Its content address.
        id: ProfileId,
        /// Packed size of what was written for it.
        stored: Bytes,
        /// How much of that are its slices of time; zero where none are kept.
        slices: Bytes,
        /// How much of it are its metrics over time; zero where it has none.
        metrics: Bytes,
        /// How much of it are its calls over time; zero where it has none.
        calls: Bytes,
        /// How much of it are all its calls; zero where these are not kept.
        kept: Bytes,
        /// The profile that stood for this source and build before, and is gone: it came from another
        /// store, and what is read here counts.
        instead_of: Option<(ProfileId, CameFrom)>,
    },
    /// The same source is already stored for this build, as this profile.
    AlreadyStored(ProfileId),
    /// The same, and only now the profile was given metrics or calls over time, which it had not or had otherwise.
    Given {
        /// Its content address.
        id: ProfileId,
        /// Packed size of all its metrics over time; zero where these were not changed.
        metrics: Bytes,
        /// Packed size of its calls over time; zero where these were not changed.
        calls: Bytes,
        /// Packed size of all its calls, where these are kept from now on.
        kept: Bytes,
    },
}

impl Added {
    /// The profile that now stands for the source.
    pub fn id(&self) -> ProfileId {
        match *self {
            Added::New { id, .. } | Added::AlreadyStored(id) | Added::Given { id, .. } => id,
        }
    }

    /// Whether all its calls are kept from now on.
    #[doc(hidden)]
    pub fn keeps_calls(&self) -> bool {
        match *self {
            Added::New { kept, .. } | Added::Given { kept, .. } => kept > Bytes(0),
            Added::AlreadyStored(_) => false,
        }
    }

    /// Whether it was not stored before.
    pub fn is_new(&self) -> bool {
        matches!(self, Added::New { .. })
    }
}

/// A stored build and its profiles.
#[derive(Clone, Debug)]
pub struct StoredBuild {
    /// Its content address.
    pub id: BuildId,
    /// What is known of it.
    pub build: Build,
    /// Its profiles, oldest recording first, then by id.
    pub profiles: Vec<StoredProfile>,
    /// Its tags, in the order of their names.
    pub tags: Vec<String>,
}

/// A stored profile.
#[derive(Clone, Debug)]
pub struct StoredProfile {
    /// Its content address.
    pub id: ProfileId,
    /// Everything about it but its stacks and counts.
    pub profile: Profile,
    /// GNU build id of the main program, as this recording has it.
    pub gnu_build_id: Option<GnuBuildId>,
    /// Revision of the work tree, as it was given with this profile.
    pub revision: Option<String>,
    /// The commit of that revision, where it was known.
    pub commit: Option<Commit>,
    /// Packed size of what is its own: its counts and its record. Frames and stacks belong to all.
    pub stored: Bytes,
    /// How much of that are its slices of time; zero where none are kept.
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

/// Stacks of a build, and what they cost in all its profiles together, or in some of them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadedBuild {
    /// How many profiles were added up.
    pub profiles: usize,
    /// What they measured, in the order in which it came up.
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
    /// The frames that the lines are of.
    pub frames: FrameTable,
    /// Line costs by sample type, in the order of frame and line.
    pub lines: Vec<Vec<LineCost>>,
    /// Digests of source files, where debug info has them.
    pub sources: SourceDigests,
}

/// Costs of one profile by context and slice of time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedSlices {
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks of the profile, as [`Snapshot::load`](crate::Snapshot::load) gives them for it alone.
    pub tree: StackTree,
    /// The costs. They add up to the self costs that [`Snapshot::load`](crate::Snapshot::load) gives.
    pub slices: Slices,
}

/// Calls of one profile over time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedCalls {
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks of the profile, as [`Snapshot::load`](crate::Snapshot::load) gives them for it alone.
    pub tree: StackTree,
    /// The calls.
    pub calls: RunCalls<NodeIx>,
}
