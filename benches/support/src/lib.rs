//! Support for the tests of several crates: skipped tests, damaged files, expected outputs, servers, and messages of formats
//! of other tools.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and says why it is skipped"
)]

#[cfg(target_os = "linux")]
mod changes;
mod damage;
mod golden;
pub mod otlp;
pub mod pprof;
mod random;
pub mod servers;
mod skip;

#[cfg(target_os = "linux")]
pub use changes::Changes;
pub use damage::damage;
pub use golden::assert_golden;
pub use random::Random;
pub use skip::{is_there, missing, skip};
