//! Compares two builds: what got slower, why, and which callers are affected.
//!
//! ```text
//! two views                runs          the event that both sides measured, runs with samples of it
//!         |
//!         v
//! function keys            functions, modules           matches functions of the two builds
//!         |
//!         v
//! one tree                 union, counts                samples by function and run
//!         |
//!         v
//! size factors             readings, normalise          expected samples of an unchanged function
//!         |
//!         v
//! p, q and intervals       statistics, evidence         whether a difference is more than chance
//!         |
//!         v
//! causes                   blame, hoist              the deepest function that explains a change; flat, if there are no stacks
//!         |
//!         v
//! moves                    regions, signs, gains, moved, replaced  cost that moved to another function
//!         |
//!         v
//! renamed functions        renamed       counted as one function; the tree is built again
//! generic functions        instances     instances that changed only together are counted as one, too
//!         |
//!         v
//! findings                 findings, sentence        what happened to each cause
//!         |
//!         v
//! time and total cost           metrics, statuses, verdict  measurements of whole runs
//!         |
//!         v
//! Comparison (result)           verdict, warnings, sentence  the summary for the user
//! ```
//!
//! [`check`](crate::check) compares several benchmarks.
//!
//! The unit of evidence is the run. Each side has one or more runs, and the variation between the
//! runs of a side decides how significant a difference between the sides is.
//!
//! See [the manual](crate::manual::compare).

mod blame;
mod calibrate;
mod call_counts;
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
mod instances;
mod lines;
mod metrics;
mod modules;
mod moved;
mod normalise;
mod pair;
mod partner;
mod paths;
mod readings;
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
mod unnamed;
mod variation;
mod verdict;
mod warnings;

pub use result::{StackNode, Stacks};

pub use result::{Dispersion, Needed, Normalisation, Run, Statistics, Tested};

pub use result::{Measured, MetricUnit};

pub use result::{AffectedCaller, AttributedCallee, CallChange, FunctionName, RunCosts, Undecided};

pub use calibrate::{FalseReports, Reported, ReportedMetric, Visible};

pub use calibrate::CalibratedWay;

pub(crate) use calibrate::calibrate_curves;
pub use calibrate::{CalibrateOptions, Calibration, CurveCalibration, calibrate};
#[cfg(feature = "lake")]
pub(crate) use find::compare_counts;
pub use find::{compare, compare_with_earlier};

pub use focus::Focus;
pub use lines::Lines;
pub(crate) use metrics::EXIT_STATUS;
pub(crate) use readings::recorded_command;
pub use result::{
    Basis, CallPath, Change, CompareError, CompareOptions, Comparison, Finding, FindingKind,
    Ignored, IgnoredFunction, MetricChange, MetricOutcome, NormalisationMethod, RunCost, SECONDS,
    Side, TOTAL_COST, TestedFunction, Verdict, WorseIf,
};
pub(crate) use runs::shared_event;
pub(crate) use stacks::in_preorder;
