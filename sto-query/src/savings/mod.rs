//! Savings: the cores that functions and libraries keep busy, over all programs.
//!
//! See [the manual](crate::manual::savings).

mod options;
mod program;
mod result;

pub use options::{SavingsOf, SavingsOptions};
pub use result::{Cores, LeftOutRuns, ProgramCores, ProgramPart, Saving, Savings};

use crate::QueryError;
use crate::answer::truncate;
use crate::tree::Order;
use program::{Code, MeasuredProgram};
use std::collections::BTreeMap;
use sto_core::CancelToken;
use sto_core::store::{Snapshot, StoredBuild};
use sto_stats::Estimate;

/// The self and total cores of a function or library in one program, by the index of the program.
struct CoresIn {
    program: usize,
    self_cores: Estimate,
    total: Estimate,
}

/// Finds the functions or libraries that keep the most cores busy in all runs of these builds.
pub(crate) fn savings(
    store: &Snapshot,
    builds: &[StoredBuild],
    options: &SavingsOptions,
    cancel: &CancelToken,
) -> Result<Savings, QueryError> {
    if !(options.less > 0.0 && options.less <= 1.0) {
        return Err(QueryError::SavedPart { less: options.less });
    }
    let mut left_out = LeftOutRuns::default();
    let mut programs: Vec<ProgramCores> = Vec::new();
    let mut wholes = Vec::new();
    let mut by_code: BTreeMap<Code, Vec<CoresIn>> = BTreeMap::new();
    for builds in builds.chunk_by(|a, b| a.build.executable == b.build.executable) {
        let Some(program) = MeasuredProgram::new(builds, &mut left_out) else {
            continue;
        };
        let costs = program.costs(store, options, cancel)?;
        wholes.push(costs.whole);
        for (code, [self_cores, total]) in costs.by_code {
            by_code.entry(code).or_default().push(CoresIn {
                program: programs.len(),
                self_cores,
                total,
            });
        }
        programs.push(program.cores(costs.whole));
    }
    let whole = Estimate::sum(&wholes);
    let list = by_code.into_iter().map(|((module, function), parts)| {
        saving(
            Saved {
                function,
                module,
                parts,
            },
            &programs,
            whole.value,
            options,
        )
    });
    let mut list: Vec<Saving> = list.collect();
    // Stable sorts keep equal ones in the order of module and name.
    list.sort_by(|a, b| b.saved.value.total_cmp(&a.saved.value));
    let omitted = truncate(&mut list, options.limit);
    programs.sort_by(|a, b| b.cores.value.total_cmp(&a.cores.value));
    Ok(Savings {
        of: options.of,
        order: options.order,
        less: options.less,
        cores: Cores::new(whole),
        programs,
        savings: list,
        omitted,
        left_out,
    })
}

/// A function or library, and its cores in each program.
struct Saved {
    function: Option<String>,
    module: String,
    parts: Vec<CoresIn>,
}

fn saving(saved: Saved, programs: &[ProgramCores], whole: f64, options: &SavingsOptions) -> Saving {
    let sum = |of: fn(&CoresIn) -> Estimate| {
        Cores::new(Estimate::sum(
            &saved.parts.iter().map(of).collect::<Vec<_>>(),
        ))
    };
    let self_cores = sum(|part| part.self_cores);
    let total = sum(|part| part.total);
    let ordered = match options.order {
        Order::SelfCost => self_cores,
        Order::Total => total,
    };
    let part = |part: &CoresIn| ProgramPart {
        executable: programs[part.program].executable.clone(),
        cores: match options.order {
            Order::SelfCost => part.self_cores.value,
            Order::Total => part.total.value,
        },
    };
    let mut parts: Vec<ProgramPart> = saved.parts.iter().map(part).collect();
    parts.sort_by(|a, b| b.cores.total_cmp(&a.cores));
    Saving {
        function: saved.function,
        module: saved.module,
        self_cores,
        total,
        saved: ordered.scaled(options.less),
        share: if whole > 0.0 {
            ordered.value / whole
        } else {
            0.0
        },
        programs: parts,
    }
}
