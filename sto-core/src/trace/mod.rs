//! Calls with time: what each thread of a program called, when and for how long, compressed by RegTime.
//!
//! Source: A. Wong, P. Bucci, I. Beschastnikh, A. Fedorova, "Making Sense of Multi-threaded Application Performance at
//! Scale with NonSequitur", OOPSLA 2024, <https://doi.org/10.1145/3689793>.

mod calls;
mod thresholds;

pub use calls::{
    CallThread, CalledStack, Expression, LongCall, Meanwhile, Outlier, Record, RunCalls,
    ThreadCalls, Wait,
};
pub use thresholds::{CallThresholds, Threshold};
