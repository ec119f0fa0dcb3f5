//! `sto sql`: queries the store in SQL.

mod dot;
mod helper;
mod shell;

use crate::args::quantities::{label, time_limit};
use crate::args::{choice, word};
use crate::runtime::{CliError, Outcome, StorePath, interrupt, output, text, ui};
use clap::Args;
use clap::builder::TypedValueParser;
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sto_query::tables::{Database, EXAMPLES, SqlError, SqlFormat, SqlOptions, SqlValue, SqlWriter};

/// Size limit of a query, in bytes.
const MAX_QUERY: u64 = 16 << 20;
const EXAMPLES_OF_USE: &str = "\
Examples:
  sto sql 'SELECT name, version, samples FROM executable'
  sto sql -f top --param version=v1         Run a built-in query
  sto sql --examples                        List the built-in queries; with a name, show its SQL
  sto sql .schema                           Show the tables, their columns, and functions
  sto sql                                   Start a shell
  sto sql \"SELECT * FROM find_regressions('v1', 'v2')\" --format json

The SQL dialect is SQLite's. The store is read on demand, and never changed.";

/// Query the store in SQL
///
/// Tables are read from the store on demand. Without a query argument, the query is read from standard input, or
/// line by line in a shell that completes names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_USE)]
pub(crate) struct SqlArgs {
    /// The query: statements separated by `;`, or one of the shell's commands such as `.schema`
    #[arg(conflicts_with = "file")]
    query: Option<String>,

    /// Read the query from this file, or use the built-in query of this name
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Write rows in this format
    #[arg(long, value_parser = formats(), default_value = "table")]
    format: SqlFormat,

    /// Set the parameter `:NAME` of the query to this value
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = label)]
    params: Vec<(String, String)>,

    /// Stop a query after this time: `10s`, `500ms`
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    timeout: Option<Duration>,

    /// List the built-in queries, or show one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["query", "file"])]
    examples: Option<String>,
}

fn formats() -> impl TypedValueParser<Value = SqlFormat> {
    choice([
        word("table", "Aligned columns"),
        word("csv", "Comma-separated values with a heading"),
        word("json", "An array of objects"),
        word("ndjson", "One object per line"),
        word("md", "A Markdown table"),
        word("raw", "Plain cells, separated by tabs"),
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
    options.timeout = args.timeout;
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

/// The query in a file, on standard input, or the built-in query of this name.
fn text_of(file: &Path) -> Result<String, CliError> {
    let read = text::read_or_stdin(file, MAX_QUERY);
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

/// Runs a query and prints its rows.
fn print(
    database: &mut Database,
    sql: &str,
    format: SqlFormat,
    options: &SqlOptions,
) -> Result<(), CliError> {
    let style = ui::style();
    if format == SqlFormat::Table {
        let mut writer = SqlWriter::new(format, style, Vec::new());
        let result = database.query(sql, options, &mut writer);
        // Show the rows of the statements before one that failed, too.
        output::show(&String::from_utf8_lossy(&writer.into_inner()))?;
        return Ok(result?);
    }
    let out = BufWriter::new(io::stdout().lock());
    let mut writer = SqlWriter::new(format, style, out);
    let result = database.query(sql, options, &mut writer);
    let flushed = io::Write::flush(&mut writer.into_inner());
    match result.and_then(|()| Ok(flushed?)) {
        // The reader of the output has closed it.
        Err(SqlError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(SqlError::Write(error)) => Err(CliError::Stdout(error)),
        result => Ok(result?),
    }
}
