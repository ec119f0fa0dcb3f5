//! `sto sql`: the store as tables.

mod dot;
mod helper;
mod shell;

use crate::args::quantities::{label, run_time};
use crate::args::{choice, word};
use crate::runtime::{CliError, Outcome, StorePath, interrupt, output, ui};
use clap::Args;
use clap::builder::TypedValueParser;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sto_core::units::Nanoseconds;
use sto_query::tables::{Database, EXAMPLES, SqlError, SqlFormat, SqlOptions, SqlValue, SqlWriter};

const EXAMPLES_OF_USE: &str = "\
Examples:
  sto sql 'SELECT name, version, samples FROM executable'
  sto sql -f top --param version=v1         A query that is shipped
  sto sql --examples                        Lists those; with a name, shows its SQL
  sto sql .schema                           The tables, their columns, and functions
  sto sql                                   A shell
  sto sql \"SELECT * FROM find_regressions('v1', 'v2')\" --format json

The dialect is that of SQLite. The store is read as rows are asked for, and never changed.";

/// Ask the store in SQL
///
/// Tables are read from the store as their rows are asked for. Without a query, it is read from standard input, or
/// line by line in a shell that completes names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_USE)]
pub(crate) struct SqlArgs {
    /// The query: statements with `;` between them, or one of the shell's commands such as `.schema`
    #[arg(conflicts_with = "file")]
    query: Option<String>,

    /// Read the query from this file, or take the shipped one of this name
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Write rows in this format
    #[arg(long, value_parser = formats(), default_value = "table")]
    format: SqlFormat,

    /// Give the parameter `:NAME` of the query this value
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = label)]
    params: Vec<(String, String)>,

    /// Stop a query after this time: `10s`, `500ms`
    #[arg(long, value_name = "TIME", value_parser = run_time)]
    timeout: Option<Nanoseconds>,

    /// List the queries that are shipped, or show one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["query", "file"])]
    examples: Option<String>,
}

fn formats() -> impl TypedValueParser<Value = SqlFormat> {
    choice([
        word("table", "Aligned columns"),
        word("csv", "Comma-separated values with a heading"),
        word("json", "An array of objects"),
        word("ndjson", "An object a line"),
        word("md", "A table of Markdown"),
        word("raw", "Cells as they are, with tabs between them"),
    ])
}

pub(crate) fn run(args: &SqlArgs, store: &StorePath) -> Result<Outcome, CliError> {
    if let Some(name) = &args.examples {
        output::show(&dot::examples(name)?)?;
        return Ok(Outcome::Clean);
    }
    let mut options = SqlOptions::default();
    let parameters = args.params.iter();
    options.parameters = parameters
        .map(|(name, value)| (name.clone(), SqlValue::from(&**value)))
        .collect();
    options.timeout = args.timeout.map(|time| Duration::from_nanos(time.0));
    let text = match (&args.query, &args.file) {
        (Some(query), _) => query.clone(),
        (None, Some(file)) => text_of(file)?,
        (None, None) if io::stdin().is_terminal() => {
            let database = Database::open(store.sources())?;
            return shell::run(database, args.format, options);
        }
        (None, None) => text_of(Path::new("-"))?,
    };
    if text.trim_start().starts_with('.') {
        let command = text.trim().parse()?;
        output::show(&dot::answer(&command, ui::style())?)?;
        return Ok(Outcome::Clean);
    }
    interrupt::leave_no_temporary_files();
    let mut database = Database::open(store.sources())?;
    print(&mut database, &text, args.format, &options)?;
    Ok(Outcome::Clean)
}

/// The query in a file, on standard input, or that is shipped under this name.
fn text_of(file: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => io::stdin().read_to_string(&mut text).map(|_| text),
        false => fs::read_to_string(file),
    };
    let shipped = EXAMPLES
        .iter()
        .find(|example| Path::new(example.name) == file);
    match (read, shipped) {
        (Err(error), Some(shipped)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(shipped.sql.to_owned())
        }
        (read, _) => read.map_err(|source| CliError::ReadFile {
            path: file.to_owned(),
            source,
        }),
    }
}

/// Prints the answers to a query.
fn print(
    database: &mut Database,
    sql: &str,
    format: SqlFormat,
    options: &SqlOptions,
) -> Result<(), CliError> {
    let style = ui::style();
    if format == SqlFormat::Table {
        let mut writer = SqlWriter::new(format, style, Vec::new());
        let answered = database.query(sql, options, &mut writer);
        // What was answered before a statement that cannot be.
        output::show(&String::from_utf8_lossy(&writer.into_inner()))?;
        return Ok(answered?);
    }
    let out = BufWriter::new(io::stdout().lock());
    let mut writer = SqlWriter::new(format, style, out);
    let answered = database.query(sql, options, &mut writer);
    let flushed = io::Write::flush(&mut writer.into_inner());
    match answered.and_then(|()| Ok(flushed?)) {
        // Who reads it has had enough.
        Err(SqlError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(SqlError::Write(error)) => Err(CliError::Stdout(error)),
        answered => Ok(answered?),
    }
}
