//! The result of a search for savings.

use super::options::SavingsOf;
use crate::answer::Answer;
use crate::tree::Order;
use serde::Serialize;
use sto_stats::Estimate;

/// The functions or libraries that keep the most cores busy, over all programs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Savings {
    /// The kind of listed code.
    pub of: SavingsOf,
    /// The cost that orders the list, and that is partly saved.
    pub order: Order,
    /// The saved part of the cost, from 0 to 1.
    pub less: f64,
    /// Cores that all programs keep busy together.
    pub cores: Cores,
    /// The programs, most cores first.
    pub programs: Vec<ProgramCores>,
    /// The functions or libraries, most cores first, equal ones by module and name.
    pub savings: Vec<Saving>,
    /// Number of functions or libraries that a limit left out.
    pub omitted: usize,
    /// Runs that do not count.
    pub left_out: LeftOutRuns,
}

impl Answer for Savings {
    const SCHEMA: &'static str = "sto.savings/1";
}

/// A number of cores with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Cores {
    /// The number of cores.
    pub value: f64,
    /// Lower end of the interval, at least 0; `None` if a program has only one run.
    pub low: Option<f64>,
    /// Upper end of the interval; `None` if a program has only one run.
    pub high: Option<f64>,
}

/// The probability with which an interval contains the true number.
const CONFIDENCE: f64 = 0.95;

impl Cores {
    pub(super) fn new(estimate: Estimate) -> Cores {
        let interval = estimate.interval(CONFIDENCE);
        Cores {
            value: estimate.value,
            low: interval.map(|(low, _)| low.max(0.0)),
            high: interval.map(|(_, high)| high),
        }
    }

    pub(super) fn scaled(self, factor: f64) -> Cores {
        Cores {
            value: self.value * factor,
            low: self.low.map(|low| low * factor),
            high: self.high.map(|high| high * factor),
        }
    }
}

/// The cores that a program keeps busy.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProgramCores {
    /// The program.
    pub executable: String,
    /// Number of its runs.
    pub runs: usize,
    /// Number of hosts, if these are compared instead of runs to get the interval.
    pub hosts: Option<usize>,
    /// Wall time of the runs in seconds.
    pub wall_seconds: f64,
    /// Processor time of the runs in seconds.
    pub cpu_seconds: f64,
    /// Processor time by wall time.
    pub cores: Cores,
}

/// The cores that a function or library keeps busy, and those that would be saved.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Saving {
    /// The function's name without the parts that differ between builds; `None` for a library.
    pub function: Option<String>,
    /// The library or program that the code belongs to; empty if unknown.
    pub module: String,
    /// Cores that run the code itself.
    #[serde(rename = "self")]
    pub self_cores: Cores,
    /// Cores that run the code or anything that it calls.
    pub total: Cores,
    /// Cores that would be saved.
    pub saved: Cores,
    /// Share of all cores, in the order of the list, from 0 to 1.
    pub share: f64,
    /// The programs that run it, with their part of the cores, most cores first.
    pub programs: Vec<ProgramPart>,
}

/// A program's part of the cores of a function or library.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProgramPart {
    /// The program.
    pub executable: String,
    /// Cores of the function or library in this program, in the order of the list.
    pub cores: f64,
}

/// Numbers of runs that do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOutRuns {
    /// Runs in which no event measured processor time.
    pub without_cpu_time: usize,
    /// Other runs of unknown duration.
    pub without_duration: usize,
}
