//! VTune's top-down tree in CSV: `vtune -report top-down -call-stack-mode all
//! -column="CPU Time:Self","Module" -format csv -csv-delimiter comma`.
//!
//! Source: *Intel VTune Profiler User Guide*, command line reference.

use super::call_path::CallPath;
use super::csv::fields;
use super::detect::Head;
use super::report::{About, Report, one_thread, scaled};
use super::summed::Summed;
use super::{Format, excerpt, kind_by_names, report};
use crate::units::{SampleType, Unit};
use std::borrow::Cow;

const FUNCTION: &[u8] = b"Function Stack";
const SELF_TIME: &[u8] = b"CPU Time:Self";

/// Whether a profile begins with the names of such columns.
pub(super) fn is_told(head: &Head<'_>) -> bool {
    head.first_line()
        .is_some_and(|line| Columns::of(line).is_some())
}

struct Columns {
    time: usize,
    module: Option<usize>,
}

impl Columns {
    fn of(line: &[u8]) -> Option<Columns> {
        let names = fields(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
        let place = |name: &[u8]| names.iter().position(|found| **found == *name);
        if place(FUNCTION)? != 0 {
            return None;
        }
        Some(Columns {
            time: place(SELF_TIME)?,
            module: place(b"Module"),
        })
    }
}

#[derive(Default)]
pub(super) struct VTune {
    columns: Option<Columns>,
    path: CallPath,
}

impl Report for VTune {
    const FORMAT: Format = Format::VTune;

    fn line(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(columns) = &self.columns else {
            self.columns = Columns::of(line);
            return Ok(());
        };
        let spaces = |text: &[u8]| text.iter().take_while(|&&byte| byte == b' ').count();
        let fields = fields(line);
        let field = |column: usize| {
            let field = fields.get(column).map(Cow::as_ref);
            field.ok_or_else(|| {
                format!(
                    "expected a function, its time and the other columns, found {}",
                    excerpt(line)
                )
            })
        };
        let (function, time) = (field(0)?, field(columns.time)?);
        let module = columns.module.map_or(Ok(&b""[..]), field)?;
        // Quotes stand around names behind the spaces, or around both.
        let depth = spaces(line) + spaces(function);
        let time = match time {
            b"" => 0,
            time => scaled(time.strip_suffix(b"s").unwrap_or(time), 9)?,
        };
        let named = &mut summed.named;
        let function = match function.trim_ascii() {
            b"" | b"[Unknown stack frame(s)]" => b"[unknown]",
            function => function,
        };
        let module = if module == b"[Unknown]" { b"" } else { module };
        let module = module.rsplit(|&byte| byte == b'/').next().unwrap_or(module);
        let (symbol, module) = (named.text(function), named.text(module));
        let location = named.frame(kind_by_names(&symbol, &module), &symbol, &module)?;
        self.path.enter(depth, location, 0, |_, _| Ok(()))?;
        one_thread(summed, 0, self.path.stack(), report::time(time))
    }

    fn finish(self, _summed: &mut Summed) -> Result<About, String> {
        Ok(About {
            sample_types: vec![SampleType {
                event: "cpu".to_owned(),
                unit: Unit::Nanoseconds,
            }],
            ..About::default()
        })
    }
}
