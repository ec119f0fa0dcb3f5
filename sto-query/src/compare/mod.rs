//! Two builds compared: what got slower, why, and who is affected.
//!
//! ```text
//! two views                runs          the event that both measured, runs with samples
//!         |
//!         v
//! function keys            functions, modules           which function is which
//!         |
//!         v
//! one tree                 union, counts                samples by function and run
//!         |
//!         v
//! size factors             normalise                    what an unchanged function would have
//!         |
//!         v
//! p, q and intervals       statistics, evidence         whether it is more than chance
//!         |
//!         v
//! causes                   blame, hoist              the deepest function that explains it; flat, without stacks
//!         |
//!         v
//! moves                    regions, signs, gains, moved, replaced  cost that is elsewhere, and not more
//!         |
//!         v
//! renamed functions        renamed       one function from here on: the tree is made again
//!         |
//!         v
//! findings                 findings, sentence        what happened to each
//!         |
//!         v
//! time and total cost           metrics, statuses, overall  what is known without functions
//!         |
//!         v
//! Comparison (result)           verdict, warnings, sentence  what a person reads first
//! ```
//!
//! Several benchmarks are [checked](crate::check) together.
//!
//! The unit of evidence is the run: each side has one or more, and how much they differ among each
//! other decides what a difference between the sides is worth.
//!
#![doc = include_str!("compare.md")]

mod blame;
mod calibrate;
mod called;
mod callees;
mod cause;
mod counts;
mod curves;
mod evidence;
mod find;
mod findings;
mod flat;
mod focus;
mod functions;
mod gains;
mod hoist;
mod lines;
mod metrics;
mod modules;
mod moved;
mod normalise;
mod pair;
mod partner;
mod paths;
mod regions;
mod renamed;
mod replaced;
mod result;
mod runs;
mod sentence;
mod signs;
mod stacks;
mod statuses;
mod union;
mod variation;
mod verdict;
mod warnings;

pub use calibrate::{CalibrateOptions, Calibration, CurveCalibration, calibrate};
pub(crate) use calibrate::{FalseReports, ReportedMetric, calibrate_curves};
#[cfg(feature = "lake")]
pub(crate) use find::compare_counts;
pub use find::{compare, compare_with_earlier};

pub use focus::Focus;
pub use lines::Lines;
pub(crate) use metrics::EXIT_STATUS;
pub(crate) use result::{
    AffectedCaller, Dispersion, FunctionName, Measured, MetricUnit, Run, StackNode, Stacks,
    Statistics,
};
pub use result::{
    Basis, CallPath, Change, CompareError, CompareOptions, Comparison, Finding, FindingKind,
    Ignored, IgnoredFunction, MetricChange, MetricOutcome, NormalisationMethod, RunCost, SECONDS,
    Side, TOTAL_COST, TestedFunction, Verdict, WorseIf,
};
pub(crate) use runs::shared_event;
pub(crate) use stacks::in_preorder;
