//! VTune's top-down tree in CSV: `vtune -report top-down -call-stack-mode all
//! -column="CPU Time:Self","Module" -format csv -csv-delimiter comma`.
//!
//! Source: *Intel VTune Profiler User Guide*, command line reference.

use crate::names::NamedFrame;
use crate::recording::RecordingBuilder;
use crate::report;
use crate::report::{CallPath, Report, add_to_only_thread};
use crate::source::Head;
use crate::wire::csv;
use crate::wire::csv::{CsvColumns, Names};
use crate::wire::text::{base_name, scaled};
use sto_model::units::Unit;

const FUNCTION: &[u8] = b"Function Stack";
const SELF_TIME: &[u8] = b"CPU Time:Self";

/// Returns `true` if a profile begins with the required column names.
pub(super) fn matches(head: &Head<'_>) -> bool {
    csv::begins_with::<CallTreeColumns>(head)
}

struct CallTreeColumns {
    time: usize,
    module: Option<usize>,
}

impl CsvColumns for CallTreeColumns {
    fn find(names: &Names<'_>) -> Option<CallTreeColumns> {
        if names.index(FUNCTION)? != 0 {
            return None;
        }
        Some(CallTreeColumns {
            time: names.index(SELF_TIME)?,
            module: names.index(b"Module"),
        })
    }
}

#[derive(Default)]
pub(super) struct VTune {
    columns: Option<CallTreeColumns>,
    path: CallPath,
    /// Whether the first row is the total that VTune puts above all functions.
    has_total: bool,
}

impl Report for VTune {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let Some((columns, row)) = csv::row(&mut self.columns, line) else {
            return Ok(());
        };
        let spaces = |text: &[u8]| text.iter().take_while(|&&byte| byte == b' ').count();
        let (function, time) = (row.field(0)?, row.field(columns.time)?);
        let module = columns
            .module
            .map_or(Ok(&b""[..]), |column| row.field(column))?;
        // The leading spaces are either before the quotes or within them.
        let depth = spaces(line) + spaces(function);
        let time = match time {
            b"" => 0,
            time => scaled(time.strip_suffix(b"s").unwrap_or(time), 9)?,
        };
        let is_total = depth == 0
            && function.trim_ascii() == b"Total"
            && matches!(module, b"" | b"[Unknown]")
            && time == 0;
        if is_total && self.path.is_empty() {
            self.has_total = true;
            return Ok(());
        }
        let depth = depth.saturating_sub(usize::from(self.has_total));
        let module = if module == b"[Unknown]" { b"" } else { module };
        let frame = NamedFrame {
            symbol: match function.trim_ascii() {
                b"[Unknown stack frame(s)]" => b"",
                function => function,
            },
            module: base_name(module),
            ..NamedFrame::default()
        };
        let location = frame.add(builder)?;
        let stack = self.path.call(depth, location, builder)?;
        add_to_only_thread(builder, 0, stack, report::time(time))?;
        Ok(())
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        builder.sample_type("cpu", Unit::Nanoseconds);
        Ok(())
    }
}
