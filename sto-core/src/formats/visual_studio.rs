//! The call tree of Visual Studio's profiler in CSV.
//!
//! Source: *Call Tree view - instrumentation data* of Visual Studio's documentation.

use super::call_path::CallPath;
use super::csv::fields;
use super::detect::Head;
use super::report::{About, Report, one_thread, scaled};
use super::summed::Summed;
use super::{Format, excerpt, kind_by_names, report};
use crate::units::{Cost, SampleType, Unit};

/// Whether a profile begins with the names of the columns that are read.
pub(super) fn is_told(head: &Head<'_>) -> bool {
    head.first_line()
        .is_some_and(|line| Columns::of(line).is_some())
}

struct Columns {
    level: usize,
    function: usize,
    calls: usize,
    own_milliseconds: usize,
    module: usize,
}

impl Columns {
    fn of(line: &[u8]) -> Option<Columns> {
        let names = fields(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
        let place = |name: &[u8]| names.iter().position(|found| **found == *name);
        Some(Columns {
            level: place(b"Level")?,
            function: place(b"Function Name")?,
            calls: place(b"Number of Calls")?,
            own_milliseconds: place(b"Avg Elapsed Exclusive Time")?,
            module: place(b"Module Name")?,
        })
    }
}

#[derive(Default)]
pub(super) struct VisualStudio {
    columns: Option<Columns>,
    /// The level of the first function, from which others are counted.
    first_level: Option<u64>,
    path: CallPath,
}

impl Report for VisualStudio {
    const FORMAT: Format = Format::VisualStudio;

    fn line(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(columns) = &self.columns else {
            self.columns = Columns::of(line);
            return Ok(());
        };
        let fields = fields(line);
        let field = |column: usize| {
            let field = fields.get(column).map(|field| field.trim_ascii());
            field.ok_or_else(|| {
                format!(
                    "expected as many fields as columns, found {}",
                    excerpt(line)
                )
            })
        };
        let number = |column: usize, digits| {
            // Thousands are apart by commas.
            let digits_only: Vec<u8> = field(column)?
                .iter()
                .copied()
                .filter(|&byte| byte != b',')
                .collect();
            scaled(&digits_only, digits)
        };
        let level = number(columns.level, 0)?;
        let first_level = *self.first_level.get_or_insert(level);
        let depth = level.checked_sub(first_level).ok_or_else(|| {
            format!(
                "a function at level {level}, where the first is at {first_level}; was a line lost?"
            )
        })?;
        let calls = number(columns.calls, 0)?;
        let nanoseconds = number(columns.own_milliseconds, 6)?.checked_mul(calls);
        let nanoseconds = nanoseconds.ok_or("its calls take longer than 2^64 ns")?;
        let named = &mut summed.named;
        let function = match field(columns.function)? {
            b"" => b"[unknown]",
            function => function,
        };
        let (symbol, module) = (named.text(function), named.text(field(columns.module)?));
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
