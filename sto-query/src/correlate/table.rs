//! Reading of series from a CSV table whose first line names the columns.

use super::error::{CorrelateError, LeftOut, WhyLeftOut};
use csv::{ByteRecord, ReaderBuilder};
use sto_core::formats::{is_column_of_times, is_missing};

/// A metric over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedSeries {
    /// Name of the metric.
    pub name: String,
    /// One value for each time; NaN if missing.
    pub values: Vec<f64>,
    /// Unit of the values, if they have one.
    pub unit: Option<String>,
    /// Index of the metric's run, if it has one.
    pub run: Option<usize>,
}

/// Columns on a common time axis.
pub(super) struct Table {
    /// Column of times; without one, times are row numbers from 1.
    pub(super) time: Option<String>,
    pub(super) times: Vec<f64>,
    /// Missing values are NaN.
    pub(super) series: Vec<NamedSeries>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A column during reading.
struct ReadColumn {
    name: String,
    values: Vec<f64>,
    is_text: bool,
}

/// Reads a table. The time column is the first whose name says so, or otherwise the first strictly ascending column that is
/// not the target.
pub(super) fn read(text: &str, target: &str) -> Result<Table, CorrelateError> {
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let malformed = |error: csv::Error| CorrelateError::Malformed(error.to_string());
    let header = reader.byte_headers().map_err(malformed)?;
    let names = header
        .iter()
        .map(|name| String::from_utf8_lossy(name).trim().to_owned());
    let column = |name| ReadColumn {
        name,
        values: Vec::new(),
        is_text: false,
    };
    let mut columns: Vec<ReadColumn> = names.map(column).collect();
    if columns.is_empty() {
        return Err(CorrelateError::Empty);
    }
    if columns
        .iter()
        .all(|column| column.name.parse::<f64>().is_ok())
    {
        return Err(CorrelateError::NoNames);
    }
    let mut lines = Vec::new();
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(malformed)? {
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() > columns.len() {
            return Err(CorrelateError::TooManyFields {
                line,
                found: record.len(),
                columns: columns.len(),
            });
        }
        lines.push(line);
        let fields = record.iter().chain(std::iter::repeat(&b""[..]));
        for (column, field) in columns.iter_mut().zip(fields) {
            column.push(field);
        }
    }
    let time = time_of(&columns, target);
    let times = match time {
        Some(ix) => checked(columns.remove(ix), &lines)?,
        None => (None, (1..=lines.len()).map(|row| row as f64).collect()),
    };
    let is_text = |column: &ReadColumn| column.is_text;
    let (text, numbers): (Vec<_>, Vec<_>) = columns.into_iter().partition(is_text);
    let left_out = text.into_iter().map(|column| LeftOut {
        name: column.name,
        why: WhyLeftOut::Text,
    });
    let series = numbers.into_iter().map(|column| NamedSeries {
        name: column.name,
        values: column.values,
        unit: None,
        run: None,
    });
    Ok(Table {
        time: times.0,
        times: times.1,
        series: series.collect(),
        left_out: left_out.collect(),
    })
}

impl ReadColumn {
    fn push(&mut self, field: &[u8]) {
        if self.is_text {
            return;
        }
        let text = std::str::from_utf8(field).map(str::trim);
        match text.map(|text| (text, text.parse::<f64>())) {
            Ok((_, Ok(number))) if number.is_finite() => self.values.push(number),
            Ok((_, Ok(_))) => self.values.push(f64::NAN),
            Ok((text, _)) if is_missing(text) => {
                self.values.push(f64::NAN);
            }
            _ => {
                self.is_text = true;
                self.values = Vec::new();
            }
        }
    }
}

fn time_of(columns: &[ReadColumn], target: &str) -> Option<usize> {
    let may_be = |column: &ReadColumn| !column.is_text && column.name != target;
    let named = |column: &ReadColumn| is_column_of_times(&column.name);
    let grows = |column: &ReadColumn| {
        column.values.len() > 1 && column.values.windows(2).all(|pair| pair[0] < pair[1])
    };
    let found = columns
        .iter()
        .position(|column| may_be(column) && named(column));
    found.or_else(|| {
        columns
            .iter()
            .position(|column| may_be(column) && grows(column))
    })
}

/// Returns the times and the name of their column, after checking that they ascend.
fn checked(
    column: ReadColumn,
    lines: &[u64],
) -> Result<(Option<String>, Vec<f64>), CorrelateError> {
    let mut before = f64::NEG_INFINITY;
    for (&time, &line) in column.values.iter().zip(lines) {
        let column = || column.name.clone();
        if time.is_nan() {
            return Err(CorrelateError::NoTime {
                line,
                column: column(),
            });
        }
        if time <= before {
            return Err(CorrelateError::TimeGoesBack {
                line,
                column: column(),
                before,
                time,
            });
        }
        before = time;
    }
    Ok((Some(column.name), column.values))
}
