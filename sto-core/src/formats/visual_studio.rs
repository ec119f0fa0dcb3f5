//! The call tree of Visual Studio's profiler in CSV.
//!
//! Source: *Call Tree view - instrumentation data* of Visual Studio's documentation.

use super::call_path::CallPath;
use super::csv::{self, Names, Table};
use super::report::{About, Report, one_thread};
use super::summed::Summed;
use super::{Format, kind_by_names, report};
use crate::units::{Cost, SampleType, Unit};

pub(super) struct Columns {
    level: usize,
    function: usize,
    calls: usize,
    own_milliseconds: usize,
    module: usize,
}

impl csv::Columns for Columns {
    fn of(names: &Names<'_>) -> Option<Columns> {
        Some(Columns {
            level: names.place(b"Level")?,
            function: names.place(b"Function Name")?,
            calls: names.place(b"Number of Calls")?,
            own_milliseconds: names.place(b"Avg Elapsed Exclusive Time")?,
            module: names.place(b"Module Name")?,
        })
    }
}

#[derive(Default)]
pub(super) struct VisualStudio {
    table: Table<Columns>,
    /// The level of the first function, from which others are counted.
    first_level: Option<u64>,
    path: CallPath,
}

impl Report for VisualStudio {
    const FORMAT: Format = Format::VisualStudio;

    fn line(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String> {
        let Some((columns, row)) = self.table.row(line) else {
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
        let nanoseconds = row.number(columns.own_milliseconds, 6)?.checked_mul(calls);
        let nanoseconds = nanoseconds.ok_or("its calls take longer than 2^64 ns")?;
        let named = &mut summed.named;
        let function = match row.field(columns.function)?.trim_ascii() {
            b"" => b"[unknown]",
            function => function,
        };
        let module = row.field(columns.module)?.trim_ascii();
        let (symbol, module) = (named.text(function), named.text(module));
        let module = module.rsplit(['\\', '/']).next().unwrap_or(&module);
        let location = named.frame(kind_by_names(&symbol, module), &symbol, module)?;
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        self.path.enter(depth, location, 0, |_, _| Ok(()))?;
        let calls = Cost {
            samples: calls,
            value: calls,
        };
        one_thread(summed, 0, self.path.stack(), report::time(nanoseconds))?;
        one_thread(summed, 1, self.path.stack(), calls)
    }

    fn finish(self, _summed: &mut Summed) -> Result<About, String> {
        let types = [("wall", Unit::Nanoseconds), ("calls", Unit::Events)];
        Ok(About {
            sample_types: types
                .map(|(event, unit)| SampleType {
                    event: event.to_owned(),
                    unit,
                })
                .into(),
            ..About::default()
        })
    }
}
