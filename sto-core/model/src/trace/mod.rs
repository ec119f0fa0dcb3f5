//! Call traces: the functions that each thread called, with their times, compressed by the RegTime algorithm.
//!
//! Source: A. Wong, P. Bucci, I. Beschastnikh, A. Fedorova, "Making Sense of Multi-threaded Application Performance at
//! Scale with NonSequitur", OOPSLA 2024, <https://doi.org/10.1145/3689793>.
//!
//! See [the manual](crate::manual::calls).
//!
//! See [the manual](crate::manual::regtime).

#[doc(hidden)]
pub mod arguments;
mod calls;
#[doc(hidden)]
pub mod dag;
mod durations;
mod events;
#[doc(hidden)]
pub mod log;
mod meanwhile;
#[doc(hidden)]
pub mod moments;
#[doc(hidden)]
pub mod outliers;
mod packed;
#[doc(hidden)]
pub mod paths;
#[doc(hidden)]
pub mod regtime;
mod thresholds;
mod waits;

pub use arguments::{CallsAtValue, CallsByArgument};
pub use calls::{
    CallRecord, CallThread, CalledStack, Expression, LongCall, Outlier, RunCalls, ThreadActivity,
    ThreadCalls, Wait,
};
pub use events::{CALLS_EVENT, SPANS_EVENT, WALL_EVENT, is_call_time};
pub use packed::PackedCalls;
pub use thresholds::{CallThresholds, Threshold};
pub use waits::is_wait_function;
