//! Calls of a run's threads over time: long calls individually, shorter ones in expressions.
//!
//! See [the manual](crate::manual::calls).

mod frames;
mod nesting;
mod new_outliers;
mod outliers;
mod prominence;
mod result;
mod run;
mod waits;
mod zoom;

pub use waits::{Waited, WaitingFunction};

pub use run::CalledCall;

pub use result::{CallGap, CallWindow, CalledExpression, CalledFrames, CalledThread, TimedCall};

pub use outliers::{InStack, SlowCall, ThreadMeanwhile};

pub use frames::CallFrames;
pub(crate) use nesting::NestedRecord;
pub(crate) use nesting::nest_records;
pub(crate) use new_outliers::new_outliers;
pub use outliers::{Outliers, outliers};
pub(crate) use prominence::ProminentFunction;
pub use prominence::prominence;
pub use result::{CallTimeline, call_timeline};
pub use run::{CallTrace, CallsError};
pub use waits::{Waits, waits};
pub(crate) use zoom::ZoomTarget;
