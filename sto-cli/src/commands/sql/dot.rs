//! Shell commands that are not SQL; they begin with a dot.

use crate::runtime::CliError;
use std::str::FromStr;
use sto_query::lake::QUESTIONS;
use sto_query::tables::{Database, EXAMPLES, SqlFormat, SqlValue, schema};
use sto_query::text::Style;

/// A command of the shell.
#[derive(Debug, PartialEq)]
pub(super) enum DotCommand {
    Help,
    /// Shows the schema of all tables and functions, or of one.
    Schema(Option<String>),
    /// Lists the example queries, or shows the SQL of one.
    Examples(Option<String>),
    Format(SqlFormat),
    /// Sets a parameter.
    Param(String, SqlValue),
    Quit,
}

/// Each command with its arguments and description.
pub(super) const COMMANDS: [(&str, &str, &str); 6] = [
    (".schema", "[NAME]", "tables, their columns, and functions"),
    (
        ".examples",
        "[NAME]",
        "the built-in queries, or the SQL of one",
    ),
    (".param", "NAME VALUE", "set the parameter :NAME to a value"),
    (".format", "FORMAT", "table, csv, json, ndjson, md or raw"),
    (".help", "", "this list"),
    (".quit", "", "leave, like Ctrl-D"),
];

impl FromStr for DotCommand {
    type Err = CliError;

    fn from_str(line: &str) -> Result<DotCommand, CliError> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim().trim_end_matches(';');
        let word = (!rest.is_empty()).then(|| rest.to_owned());
        let unknown = || CliError::UnknownDotCommand(line.to_owned());
        Ok(match name {
            ".help" => DotCommand::Help,
            ".schema" | ".tables" => DotCommand::Schema(word),
            ".examples" => DotCommand::Examples(word),
            ".format" => DotCommand::Format(format(rest).ok_or_else(unknown)?),
            ".param" => {
                let separator = |letter: char| letter == '=' || letter.is_whitespace();
                let (name, value) = rest.split_once(separator).ok_or_else(unknown)?;
                DotCommand::Param(name.trim_start_matches(':').to_owned(), value.trim().into())
            }
            ".quit" | ".exit" => DotCommand::Quit,
            _ => return Err(unknown()),
        })
    }
}

fn format(name: &str) -> Option<SqlFormat> {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};
    let name: StrDeserializer<'_, Error> = name.into_deserializer();
    SqlFormat::deserialize(name).ok()
}

/// The output of a command; empty for commands that set something.
pub(super) fn answer(command: &DotCommand, style: Style) -> Result<String, CliError> {
    Ok(match command {
        DotCommand::Help => help(),
        DotCommand::Schema(name) => {
            let names = Database::names();
            match name
                .as_ref()
                .filter(|&name| names.iter().all(|known| known.name != *name))
            {
                Some(name) => return Err(CliError::UnknownTable(name.clone())),
                None => schema(&names, name.as_deref(), style),
            }
        }
        DotCommand::Examples(name) => examples(name.as_deref().unwrap_or_default())?,
        DotCommand::Format(_) | DotCommand::Param(..) | DotCommand::Quit => String::new(),
    })
}

fn help() -> String {
    let lines =
        COMMANDS.map(|(name, takes, does)| format!("{:22}{does}\n", format!("{name} {takes}")));
    let sql = "Anything else is SQL, up to a `;`. Tab completes names, Ctrl-C stops a query.\n";
    lines.concat() + sql
}

/// Lists the built-in queries, or returns the SQL of one.
pub(super) fn examples(name: &str) -> Result<String, CliError> {
    if name.is_empty() {
        let lines = EXAMPLES.iter().map(|example| {
            let parameters = example
                .parameters()
                .map(|name| format!(" --param {name}=..."));
            let run = format!(
                "sto sql -f {}{}",
                example.name,
                parameters.collect::<String>()
            );
            format!("{}\n  {}\n", run, example.about())
        });
        let of_engines = QUESTIONS.iter().map(|question| {
            format!(
                "sto sql --examples {0}\n  {1}\n",
                question.name,
                question.about()
            )
        });
        let title = "\nFor DuckDB, DataFusion, Ballista and Spark, on datasets written by `sto export --format parquet`:\n";
        let of_store = lines.collect::<String>();
        return Ok(of_store + title + &of_engines.collect::<String>());
    }
    let of_store = EXAMPLES.iter().map(|example| (example.name, example.sql));
    let of_engines = QUESTIONS
        .iter()
        .map(|question| (question.name, question.sql));
    let shipped = of_store.chain(of_engines).find(|shipped| shipped.0 == name);
    let (_, sql) = shipped.ok_or_else(|| CliError::UnknownExample(name.to_owned()))?;
    Ok(sql.to_owned())
}
