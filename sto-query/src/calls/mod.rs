//! What the threads of a run called, and when: long calls each, shorter ones in expressions.

mod nesting;
mod prominence;
mod result;
mod run;

pub(crate) use nesting::nested;
pub use prominence::{ProminentFunction, prominence};
pub use result::{
    CallGap, CallTimeline, CalledExpression, CalledFrames, CalledThread, TimedCall, call_timeline,
};
pub use run::CalledRun;
