//! The call tree of Visual Studio's profiler in CSV.
//!
//! Source: *Call Tree view - instrumentation data* of Visual Studio's documentation.

use crate::names::NamedFrame;
use crate::recording::{RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report;
use crate::report::{CallPath, Report, add_to_only_thread};
use crate::source::Head;
use crate::wire::csv;
use crate::wire::csv::{CsvColumns, Names, Row};
use sto_model::units::{Cost, Unit};

/// Returns `true` if a profile begins with the required column names.
pub(super) fn matches(head: &Head<'_>) -> bool {
    csv::begins_with::<CallTreeColumns>(head)
}

struct CallTreeColumns {
    level: usize,
    function: usize,
    calls: usize,
    module: usize,
    own: usize,
    /// The columns of average total time, share of total time, and share of self time.
    shares: Option<[usize; 3]>,
}

impl CsvColumns for CallTreeColumns {
    fn find(names: &Names<'_>) -> Option<CallTreeColumns> {
        let shares = [
            names.index(b"Avg Elapsed Inclusive Time"),
            names.index(b"Elapsed Inclusive Time %"),
            names.index(b"Elapsed Exclusive Time %"),
        ];
        Some(CallTreeColumns {
            level: names.index(b"Level")?,
            function: names.index(b"Function Name")?,
            calls: names.index(b"Number of Calls")?,
            module: names.index(b"Module Name")?,
            own: names.index(b"Avg Elapsed Exclusive Time")?,
            shares: match shares {
                [Some(total), Some(total_share), Some(own_share)] => {
                    Some([total, total_share, own_share])
                }
                _ => None,
            },
        })
    }
}

/// A rounded number.
#[derive(Clone, Copy, Default)]
struct Rounded {
    millionths: u64,
    /// Half a unit of the last digit, in millionths.
    error: u64,
}

impl Rounded {
    fn parse(row: &Row<'_>, column: usize) -> Result<Rounded, String> {
        let millionths = row.number(column, 6)?;
        let text = row.field(column)?.trim_ascii();
        let digits = memchr::memchr(b'.', text).map_or(0, |point| text.len() - point - 1);
        let last = 10u64.pow(6u32.saturating_sub(digits as u32));
        Ok(Rounded {
            millionths,
            error: last.div_ceil(2),
        })
    }

    /// The maximum relative error of the number.
    fn relative_error(self) -> f64 {
        self.error as f64 / self.millionths as f64
    }
}

/// 100 % in millionths.
const WHOLE: u128 = 100_000_000;
const TOO_LONG: &str = "its calls take longer than 2^64 ns";

/// The self cost of a function, which can only be computed once the time of the whole is known.
struct Own {
    stack: StackIx,
    calls: u64,
    /// In milliseconds, so that millionths are nanoseconds.
    average: Rounded,
    share: Rounded,
}

impl Own {
    /// In nanoseconds, from its share or its average, whichever is more exact.
    fn nanoseconds(&self, all: Option<u64>) -> Result<u64, String> {
        let calls = u128::from(self.calls);
        let sum = u128::from(self.average.millionths) * calls;
        let error = u128::from(self.average.error) * calls;
        let nanoseconds = match all.map(u128::from) {
            Some(all) if self.calls == 0 || u128::from(self.share.error) * all / WHOLE < error => {
                (u128::from(self.share.millionths) * all + WHOLE / 2) / WHOLE
            }
            _ => sum,
        };
        u64::try_from(nanoseconds).map_err(|_| TOO_LONG.to_owned())
    }
}

#[derive(Default)]
pub(super) struct VisualStudio {
    columns: Option<CallTreeColumns>,
    /// Level of the first function; other levels are relative to it.
    first_level: Option<u64>,
    path: CallPath,
    rows: Vec<Own>,
    /// The time of the whole in nanoseconds, from the most exact row, and its relative error.
    all: Option<(u64, f64)>,
}

impl Report for VisualStudio {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let Some((columns, row)) = csv::row(&mut self.columns, line) else {
            return Ok(());
        };
        let level = row.number(columns.level, 0)?;
        let first_level = *self.first_level.get_or_insert(level);
        let depth = level.checked_sub(first_level).ok_or_else(|| {
            format!(
                "a function at level {level}, where the first is at {first_level}; was a line lost?"
            )
        })?;
        let calls = row.number(columns.calls, 0)?;
        let average = Rounded::parse(&row, columns.own)?;
        let mut share = Rounded::default();
        if let Some([total, total_share, own_share]) = columns.shares {
            share = Rounded::parse(&row, own_share)?;
            let (total, of_all) = (
                Rounded::parse(&row, total)?,
                Rounded::parse(&row, total_share)?,
            );
            let error = total.relative_error() + of_all.relative_error();
            let is_better = self.all.is_none_or(|(_, best)| error < best);
            if calls > 0 && of_all.millionths > 0 && is_better {
                let total = total.millionths.checked_mul(calls).ok_or(TOO_LONG)?;
                let all = u128::from(total) * WHOLE / u128::from(of_all.millionths);
                let all = u64::try_from(all).map_err(|_| TOO_LONG)?;
                self.all = Some((all, error));
            }
        }
        let module = row.field(columns.module)?.trim_ascii();
        let is_separator = |byte: &u8| matches!(byte, b'\\' | b'/');
        let frame = NamedFrame {
            symbol: row.field(columns.function)?.trim_ascii(),
            module: module.rsplit(is_separator).next().unwrap_or(module),
            ..NamedFrame::default()
        };
        let location = frame.add(builder)?;
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        let stack = self.path.call(depth, location, builder)?;
        self.rows.push(Own {
            stack,
            calls,
            average,
            share,
        });
        add_to_only_thread(builder, 1, stack, Cost::from_count(calls))?;
        Ok(())
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        let all = self.all.map(|(all, _)| all);
        for row in &self.rows {
            let time = report::time(row.nanoseconds(all)?);
            builder.add_cost(ThreadIx(0), SampleTypeIx(0), row.stack, time)?;
        }
        // Shares have two decimals.
        let off = all.and_then(|all| {
            builder.check_total(SampleTypeIx(0), all, (self.rows.len(), all / 10_000))
        });
        builder.warnings.extend(off);
        builder.sample_type("wall", Unit::Nanoseconds);
        builder.sample_type("calls", Unit::Events);
        Ok(())
    }
}
