//! The things that a store keeps: frames, executables, builds, profiles.

mod build;
mod frame;
mod profile;

pub use build::{Build, Executable, GnuBuildId};
pub use frame::{Frame, FrameIx, FrameKind, FrameTable, StringIx};
pub use profile::{Granularity, ModuleRef, Origin, Profile, Quality};
