//! What the threads of a run called, and when: long calls each, shorter ones in expressions.
//!
#![doc = include_str!("calls.md")]

mod nesting;
mod new_outliers;
mod outliers;
mod prominence;
mod result;
mod run;
mod waits;
mod zoom;

pub(crate) use nesting::Nested;
pub(crate) use nesting::nested;
pub(crate) use new_outliers::new_outliers;
pub use outliers::{InStack, Outliers, SlowCall, ThreadMeanwhile, outliers};
pub use prominence::{ProminentFunction, prominence};
pub use result::{
    CallGap, CallTimeline, CallWindow, CalledExpression, CalledFrames, CalledThread, TimedCall,
    call_timeline,
};
pub use run::{CalledCall, CalledRun, CallsError};
pub use waits::{Waited, WaitingFunction, Waits, waits};
pub(crate) use zoom::ZoomTarget;
