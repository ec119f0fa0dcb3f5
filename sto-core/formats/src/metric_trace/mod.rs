//! Traces: files with metrics over time that belong to a recording.
//!
//! See [the manual](crate::manual::trace).

mod json_lines;
mod perf_stat;
mod points;
mod table;
mod time;

use crate::compressed;
use crate::compressed::Compression;
use crate::error::{FormatError, Salvage};
use crate::source::ReadOptions;
use crate::wire::text::excerpt;
use hashbrown::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_model::limits::MAX_LINE;
use sto_model::units::{Nanoseconds, TimeOffset};
use sto_model::{MetricKind, MetricSeries};
use time::{Seconds, as_nanoseconds};

/// Metrics over time, with their own clock.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    series: Vec<TraceSeries>,
    /// Warnings about data that were left out, as whole sentences.
    warnings: Vec<String>,
}

/// A metric of a trace.
#[derive(Debug)]
struct TraceSeries {
    name: String,
    kind: MetricKind,
    /// In nanoseconds, ascending.
    times: Arc<[i64]>,
    values: Vec<f64>,
}

/// A reader of one trace format, line by line.
trait Reader {
    /// Reads the next line that is neither blank nor a comment.
    fn line(&mut self, line: &[u8]) -> Result<(), String>;

    /// Returns the metrics, and warnings about data that were left out.
    fn finish(self: Box<Self>) -> Result<(Vec<TraceSeries>, Vec<String>), String>;
}

/// The reader for a trace with this first line.
fn reader_of(line: &[u8]) -> Result<Box<dyn Reader>, String> {
    match line.trim_ascii_start() {
        [b'{', ..] => return Ok(Box::new(json_lines::JsonLines::default())),
        [b'[', ..] => {
            let expected = "expected JSON lines, an object with `time`, `name` and `value` a line; found an array";
            return Err(expected.to_owned());
        }
        _ => {}
    }
    if let Some(reader) = perf_stat::PerfStat::from_first_line(line)? {
        return Ok(Box::new(reader));
    }
    table::reader(line)
}

/// Reads a trace in any supported format, which may be compressed.
///
/// # Errors
/// Returns an error if the file cannot be read or breaks a rule of its format.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Trace, FormatError> {
    let file = File::open(path).map_err(FormatError::io(path))?;
    // The options for a truncated recording do not apply to its traces.
    let options = ReadOptions {
        allow_truncated: false,
        ..options.clone()
    };
    let input = Compression::decompress(path, file, &options)?;
    read_lines(path, input)
}

fn read_lines(path: &Path, input: impl Read) -> Result<Trace, FormatError> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    let (mut line, mut number) = (Vec::new(), 0u64);
    let mut reader: Option<Box<dyn Reader>> = None;
    loop {
        line.clear();
        let read = (&mut input)
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line);
        let io = compressed::failed(path, Salvage::Impossible);
        if read.map_err(io)? == 0 {
            break;
        }
        number += 1;
        let malformed =
            |problem| FormatError::malformed(path, format_args!("line {number}"), problem);
        if line.len() == MAX_LINE {
            return Err(malformed(format!(
                "a line of more than {MAX_LINE} bytes; is it a trace?"
            )));
        }
        let text = match number {
            1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line),
            _ => &line,
        };
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.trim_ascii().is_empty() || text.starts_with(b"#") {
            continue;
        }
        let reader = match &mut reader {
            Some(reader) => reader,
            none => none.insert(reader_of(text).map_err(malformed)?),
        };
        reader.line(text).map_err(malformed)?;
    }
    let empty = || FormatError::Empty {
        path: path.to_owned(),
    };
    let (series, warnings) = reader
        .ok_or_else(empty)?
        .finish()
        .map_err(|problem| FormatError::malformed(path, "the end", problem))?;
    Ok(Trace {
        path: path.to_owned(),
        series,
        warnings,
    })
}

impl Trace {
    /// Converts the metrics to the clock of a recording whose samples lie between `first` and
    /// `last`. Returns them with warnings.
    ///
    /// `start` is the offset of the trace's time 0 from the first sample. Without it, the trace
    /// uses the recording's clock if any of its times lies between these; otherwise its time 0 is
    /// the first sample. One point is kept before the first sample and one after the last.
    ///
    /// # Errors
    /// Returns an error if none of its times lies between the first and the last sample.
    pub fn align_to_recording(
        self,
        (first, last): (Nanoseconds, Nanoseconds),
        start: Option<TimeOffset>,
    ) -> Result<(Vec<MetricSeries>, Vec<String>), FormatError> {
        let (first, last) = (i128::from(first.0), i128::from(last.0));
        let ends = self
            .series
            .iter()
            .flat_map(|series| [series.times.first(), series.times.last()]);
        let ends = ends.flatten().map(|&time| i128::from(time));
        let Some((from, to)) = ends.clone().min().zip(ends.max()) else {
            return Err(FormatError::malformed(
                &self.path,
                "the end",
                "it has no values",
            ));
        };
        let overlaps = |shift: i128| from + shift <= last && first <= to + shift;
        let shift = match start {
            Some(TimeOffset(start)) => first + i128::from(start),
            None if overlaps(0) => 0,
            None => first,
        };
        if !overlaps(shift) {
            return Err(FormatError::NoOverlap {
                path: self.path,
                trace: format!("{} to {}", Seconds(from), Seconds(to)),
                recording: format!("{} to {}", Seconds(first), Seconds(last)),
                length: Seconds(last - first).to_string(),
                start: start.map(|TimeOffset(start)| Seconds(start.into()).to_string()),
            });
        }
        let mut lists: HashMap<*const i64, Arc<[Nanoseconds]>> = HashMap::new();
        let (mut all, mut points, mut kept) = (Vec::with_capacity(self.series.len()), 0, 0);
        for TraceSeries {
            name,
            kind,
            times,
            mut values,
        } in self.series
        {
            let at = |time: i64| i128::from(time) + shift;
            let begin = times.partition_point(|&time| at(time) < first);
            let begin = begin
                .saturating_sub(1)
                .max(times.partition_point(|&time| at(time) < 0));
            let end = times.partition_point(|&time| at(time) <= last);
            let end = (end + 1).min(times.partition_point(|&time| at(time) <= u64::MAX.into()));
            points += times.len();
            if begin >= end {
                continue;
            }
            kept += end - begin;
            let list = lists.entry(times.as_ptr()).or_insert_with(|| {
                times[begin..end]
                    .iter()
                    .map(|&time| Nanoseconds(at(time) as u64))
                    .collect()
            });
            values.truncate(end);
            values.drain(..begin);
            if kind == MetricKind::Count {
                values[0] = 0.0;
            }
            let series = MetricSeries::new(name, kind, Arc::clone(list), values);
            all.push(series.map_err(|error| {
                FormatError::malformed(&self.path, "the end", error.to_string())
            })?);
        }
        let mut warnings = self.warnings;
        if kept < points {
            warnings.push(format!(
                "{} of {points} values have times outside of the recording, which lasts {}, and were left out.",
                points - kept,
                Seconds(last - first),
            ));
        }
        let name = excerpt(self.path.display().to_string().as_bytes());
        let warnings = warnings
            .into_iter()
            .map(|warning| format!("Trace {name}: {warning}"));
        Ok((all, warnings.collect()))
    }
}

/// Texts for a missing value in a table, besides an empty field.
const MISSING: [&str; 7] = [
    "-",
    "na",
    "n/a",
    "null",
    "none",
    "<not counted>",
    "<not supported>",
];

/// Returns `true` if a field of a table has no value.
pub fn is_missing(field: &str) -> bool {
    let field = field.trim();
    field.is_empty()
        || MISSING
            .iter()
            .any(|missing| field.eq_ignore_ascii_case(missing))
}

/// Returns `true` if a column of this name has times: `time`, `t`, `timestamp` or `seconds`, possibly
/// with a unit.
pub fn is_column_of_times(name: &str) -> bool {
    time::unit_of_times(name).is_some()
}

/// The number in a field; `None` if the value is missing.
fn number(field: &[u8]) -> Result<Option<f64>, String> {
    let text = str::from_utf8(field).unwrap_or("?").trim();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(number)),
        Err(_) if is_missing(text) => Ok(None),
        _ => Err(format!(
            "expected a finite number, found {}",
            excerpt(field)
        )),
    }
}

/// The time in a field in nanoseconds; without a unit, it is in units of `unit` nanoseconds.
fn time_in(field: &[u8], unit: i64) -> Result<i64, String> {
    as_nanoseconds(field, unit).ok_or_else(|| {
        let found = excerpt(field);
        format!(
            "expected a time, a number of seconds or one with a unit (s, ms, us, ns), found {found}"
        )
    })
}
