//! Calls with time: what each thread of a program called, when and for how long, compressed by RegTime.
//!
//! Source: A. Wong, P. Bucci, I. Beschastnikh, A. Fedorova, "Making Sense of Multi-threaded Application Performance at
//! Scale with NonSequitur", OOPSLA 2024, <https://doi.org/10.1145/3689793>. The rules are these:
//!
#![doc = include_str!("regtime.md")]

pub(crate) mod arguments;
mod calls;
pub(crate) mod dag;
mod durations;
mod events;
pub(crate) mod log;
mod meanwhile;
pub(crate) mod moments;
pub(crate) mod outliers;
mod packed;
pub(crate) mod paths;
pub(crate) mod regtime;
mod thresholds;
mod waits;

pub use arguments::{CallsAt, CallsWith};
pub use calls::{
    CallThread, CalledStack, Expression, LongCall, Meanwhile, Outlier, Record, RunCalls,
    ThreadCalls, Wait,
};
pub use events::{CALLS, SPANS, WALL, is_time_of_calls};
pub use packed::PackedCalls;
pub use thresholds::{CallThresholds, Threshold};
pub use waits::is_wait_function;
