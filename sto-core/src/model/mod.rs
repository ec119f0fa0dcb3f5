//! The things that a store keeps: frames, executables, builds, profiles.

mod build;
mod frame;
mod label;
mod profile;

pub use build::{Build, Executable, GnuBuildId};
pub(crate) use frame::FrameRow;
pub use frame::{Frame, FrameIx, FrameKind, FrameTable, StringIx};
pub use label::{LabelValue, SampleLabel};
pub use profile::{Granularity, ModuleRef, Origin, Profile, Quality};
