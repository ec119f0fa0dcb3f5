//! Profile formats: one file or folder a format, from bytes to a [`Recording`].

mod detect;
mod error;
mod event;
mod folded;
mod perf_data;
mod perf_script;
mod recording;

pub use detect::{Format, read};
pub use error::FormatError;
pub(crate) use perf_data::{AddressSpace, UserRegs};
pub use recording::{
    Location, LocationIx, Module, ModuleIx, ModuleKind, Process, ProcessIx, Recording, Sample,
    SampleTypeIx, StackIx, Stacks, Thread, ThreadIx,
};
