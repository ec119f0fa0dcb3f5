//! Streaming output of SQL results.

use super::database::{SqlCell, SqlName, SqlRows};
use crate::text::{Style, display_width, printable, shorten};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, Write};

/// Format of SQL results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SqlFormat {
    /// Aligned columns, or one line per cell if they are too wide for the terminal.
    Table,
    /// Comma-separated values with a header line.
    Csv,
    /// An array of objects.
    Json,
    /// One object per line.
    Ndjson,
    /// A Markdown table.
    Md,
    /// Unmodified cells separated by tabs.
    Raw,
}

/// Writer of results. All formats except text and Markdown tables are written row by row.
pub struct SqlWriter<W> {
    format: SqlFormat,
    style: Style,
    out: W,
    names: Vec<String>,
    /// Number of results so far, including the current one, and number of its rows.
    answers: usize,
    rows: usize,
    /// Buffered cells of tables: whether each is a number, and its text.
    cells: Vec<Vec<(bool, String)>>,
}

/// Width of the gap between two columns.
const GAP: usize = 2;
/// Width to which text may be truncated if columns are too wide.
const LEAST: usize = 12;

impl<W: Write> SqlWriter<W> {
    /// Creates a writer in this format; the style applies to tables.
    pub fn new(format: SqlFormat, style: Style, out: W) -> SqlWriter<W> {
        SqlWriter {
            format,
            style,
            out,
            names: Vec::new(),
            answers: 0,
            rows: 0,
            cells: Vec::new(),
        }
    }

    /// Returns the underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Formats a row as an object, in the order of the columns.
    fn object(&self, cells: &[SqlCell<'_>]) -> String {
        let pairs = self.names.iter().zip(cells);
        let pairs = pairs.map(|(name, cell)| format!("{}:{}", Value::from(&**name), json(cell)));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
    }

    fn csv_line<'a>(&mut self, cells: impl Iterator<Item = Cow<'a, str>>) -> io::Result<()> {
        let cells: Vec<Cow<'_, str>> = cells.map(quoted).collect();
        writeln!(self.out, "{}", cells.join(","))
    }
}

impl<W: Write> SqlRows for SqlWriter<W> {
    fn columns(&mut self, names: &[&str]) -> io::Result<()> {
        let is_apart = matches!(
            self.format,
            SqlFormat::Table | SqlFormat::Md | SqlFormat::Csv
        );
        if self.answers > 0 && is_apart {
            writeln!(self.out)?;
        }
        self.answers += 1;
        self.rows = 0;
        self.names = names.iter().map(|&name| name.to_owned()).collect();
        match self.format {
            SqlFormat::Csv => self.csv_line(names.iter().map(|&name| name.into())),
            _ => Ok(()),
        }
    }

    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()> {
        self.rows += 1;
        match self.format {
            SqlFormat::Table | SqlFormat::Md => {
                let cells = cells.iter().map(|cell| (is_number(cell), short_text(cell)));
                self.cells.push(cells.collect());
                Ok(())
            }
            SqlFormat::Csv => self.csv_line(cells.iter().map(text)),
            SqlFormat::Json => {
                let separator = if self.rows == 1 { "[\n" } else { ",\n" };
                write!(self.out, "{separator}{}", self.object(cells))
            }
            SqlFormat::Ndjson => writeln!(self.out, "{}", self.object(cells)),
            SqlFormat::Raw => {
                let shown = |cell| match self.style.width {
                    // Escapes control characters, which would affect a terminal.
                    Some(_) => printable_lines(&text(cell)),
                    None => text(cell).into_owned(),
                };
                let cells: Vec<String> = cells.iter().map(shown).collect();
                writeln!(self.out, "{}", cells.join("\t"))
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let cells = std::mem::take(&mut self.cells);
        let text = match self.format {
            SqlFormat::Table => table(&self.names, &cells, self.style),
            SqlFormat::Md => markdown(&self.names, &cells),
            SqlFormat::Json if self.rows == 0 => "[]\n".to_owned(),
            SqlFormat::Json => "\n]\n".to_owned(),
            _ => String::new(),
        };
        self.out.write_all(text.as_bytes())
    }
}

/// Quotes a field of comma-separated values if necessary (RFC 4180).
fn quoted(field: Cow<'_, str>) -> Cow<'_, str> {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field
    }
}

fn is_number(cell: &SqlCell<'_>) -> bool {
    matches!(cell, SqlCell::Integer(_) | SqlCell::Real(_))
}

fn text<'a>(cell: &SqlCell<'a>) -> Cow<'a, str> {
    match *cell {
        SqlCell::Null => "".into(),
        SqlCell::Integer(number) => number.to_string().into(),
        SqlCell::Real(number) => number.to_string().into(),
        SqlCell::Text(text) => text.into(),
        SqlCell::Blob(bytes) => hex(bytes).into(),
    }
}

/// Formats a cell for people, with six digits for fractions.
fn short_text(cell: &SqlCell<'_>) -> String {
    match *cell {
        SqlCell::Real(number) => match number.abs() {
            1e-4..1e15 => {
                let digits = 5 - number.abs().log10().floor() as i32;
                let rounded = format!("{number:.*}", digits.max(0) as usize);
                if rounded.contains('.') {
                    rounded
                        .trim_end_matches(['0'])
                        .trim_end_matches('.')
                        .to_owned()
                } else {
                    rounded
                }
            }
            0.0 => "0".to_owned(),
            _ => format!("{number:.5e}"),
        },
        _ => printable(&text(cell)).into_owned(),
    }
}

fn json(cell: &SqlCell<'_>) -> Value {
    match *cell {
        SqlCell::Null => Value::Null,
        SqlCell::Integer(number) => number.into(),
        SqlCell::Real(number) => number.into(),
        SqlCell::Text(text) => text.into(),
        SqlCell::Blob(bytes) => hex(bytes).into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn printable_lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    lines.join("\n")
}

fn table(names: &[String], rows: &[Vec<(bool, String)>], style: Style) -> String {
    if rows.is_empty() {
        return "no rows\n".to_owned();
    }
    let names: Vec<String> = names
        .iter()
        .map(|name| printable(name).into_owned())
        .collect();
    let is_number = |ix: usize| rows.iter().all(|row| row[ix].0 || row[ix].1.is_empty());
    let widest = |ix: usize| rows.iter().map(|row| display_width(&row[ix].1)).max();
    let wanted = (0..names.len()).map(|ix| widest(ix).unwrap_or(0).max(display_width(&names[ix])));
    let mut widths: Vec<usize> = wanted.collect();
    let numbers: Vec<bool> = (0..names.len()).map(is_number).collect();
    if let Some(width) = style.width
        && !fit(&mut widths, &numbers, &names, width)
    {
        return records(&names, rows, style);
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for ((cell, &width), is_number) in cells.zip(&widths).zip(&numbers) {
            let cell = shorten(cell, width);
            let padding = " ".repeat(width - display_width(&cell));
            line += &if *is_number {
                format!("{padding}{cell}{:GAP$}", "")
            } else {
                format!("{cell}{padding}{:GAP$}", "")
            };
        }
        line.truncate(line.trim_end().len());
        line
    };
    let heading = line(&mut names.iter().map(String::as_str));
    let mut text = format!("{}\n", style.bold(&heading));
    for row in rows {
        text += &line(&mut row.iter().map(|(_, cell)| cell.as_str()));
        text.push('\n');
    }
    text
}

/// Shrinks the widest text columns until all fit; returns `false` if they do not.
fn fit(widths: &mut [usize], numbers: &[bool], names: &[String], width: usize) -> bool {
    loop {
        let taken = widths.iter().map(|width| width + GAP).sum::<usize>();
        let Some(over) = (taken.saturating_sub(GAP))
            .checked_sub(width)
            .filter(|&over| over > 0)
        else {
            return true;
        };
        let least = |ix: usize| display_width(&names[ix]).max(LEAST);
        let texts = (0..widths.len()).filter(|&ix| !numbers[ix] && widths[ix] > least(ix));
        let Some(ix) = texts.max_by_key(|&ix| (widths[ix], ix)) else {
            return false;
        };
        // Shrinks to the next widest column, so that several shrink evenly.
        let others = (0..widths.len()).filter(|&other| other != ix && !numbers[other]);
        let next = others
            .map(|other| widths[other])
            .filter(|&other| other < widths[ix])
            .max();
        let narrow = next
            .unwrap_or(0)
            .max(least(ix))
            .max(widths[ix].saturating_sub(over));
        widths[ix] = narrow.min(widths[ix] - 1);
    }
}

/// Formats one line per cell, with an empty line between rows.
fn records(names: &[String], rows: &[Vec<(bool, String)>], style: Style) -> String {
    let width = names
        .iter()
        .map(|name| display_width(name))
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (ix, row) in rows.iter().enumerate() {
        if ix > 0 {
            text.push('\n');
        }
        for (name, (_, cell)) in names.iter().zip(row) {
            let padding = " ".repeat(width - display_width(name) + GAP);
            let cell = style.shorten_to_fit(cell, width + GAP);
            let line = format!("{}{padding}{cell}", style.dim(name));
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

fn markdown(names: &[String], rows: &[Vec<(bool, String)>]) -> String {
    let escaped = |text: &str| {
        printable(text)
            .replace('\\', "\\\\")
            .replace('|', "\\|")
            .replace('<', "&lt;")
    };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(names.iter().map(|name| escaped(name)).collect());
    let rules = (0..names.len()).map(|ix| {
        let is_number =
            !rows.is_empty() && rows.iter().all(|row| row[ix].0 || row[ix].1.is_empty());
        if is_number { "---:" } else { "---" }.to_owned()
    });
    text += &line(rules.collect());
    for row in rows {
        text += &line(row.iter().map(|(_, cell)| escaped(cell)).collect());
    }
    text
}

/// Describes the available names with the columns of tables; only one name if `of` is given.
pub fn schema(names: &[SqlName], of: Option<&str>, style: Style) -> String {
    let mut text = String::new();
    for name in names
        .iter()
        .filter(|name| of.is_none_or(|of| of == name.name))
    {
        let arguments = name
            .arguments
            .as_ref()
            .map(|arguments| format!("({arguments})"));
        let head = format!("{}{}", name.name, arguments.unwrap_or_default());
        text += &style.bold(&head);
        text.push('\n');
        let columns = name
            .columns
            .iter()
            .map(|(name, sql_type)| format!("{name} {sql_type}"));
        let columns: Vec<String> = columns.collect();
        if !columns.is_empty() {
            text += &crate::text::paragraph(style, "  ", &columns.join(", "), 2);
        }
    }
    text
}
