//! The interactive shell.

use super::dot::{self, DotCommand};
use super::helper::SqlHelper;
use super::print;
use crate::runtime::error::report;
use crate::runtime::user_folder::user_folder;
use crate::runtime::{CliError, Outcome, interrupt, output, ui};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use sto_core::CancelToken;
use sto_query::tables::{Database, SqlError, SqlFormat, SqlOptions, SqlValue};

type Line = Editor<SqlHelper, FileHistory>;

/// Reads and answers queries until the end of input.
pub(super) fn run(
    mut database: Database,
    mut format: SqlFormat,
    mut options: SqlOptions,
) -> Result<Outcome, CliError> {
    let running = stopped_by_interrupts();
    let mut editor = editor().map_err(terminal)?;
    let history = history();
    if let Some(file) = &history {
        // There is no history file at first.
        let _ = editor.load_history(file);
    }
    ui::print_text("SQL of SQLite; `.help` lists commands, Ctrl-D leaves.\n");
    loop {
        let line = match editor.readline("sto> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(terminal(error)),
        };
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(text);
        let result = if text.starts_with('.') {
            match text.parse() {
                Ok(DotCommand::Quit) => break,
                Ok(DotCommand::Format(chosen)) => {
                    format = chosen;
                    Ok(())
                }
                Ok(DotCommand::Param(name, value)) => {
                    set(&mut options.parameters, name, value);
                    Ok(())
                }
                Ok(command) => {
                    dot::answer(&command, ui::style()).and_then(|text| output::show(&text))
                }
                Err(error) => Err(error),
            }
        } else {
            options.cancel = CancelToken::default();
            *running.lock().unwrap_or_else(PoisonError::into_inner) = options.cancel.clone();
            match print(&mut database, text, format, &options) {
                // Parameters may be set before a query uses them.
                Err(CliError::Sql(SqlError::UnknownParameter(_))) => Ok(()),
                result => result,
            }
        };
        if result.is_err() {
            report(result.map(|()| Outcome::Clean));
        }
    }
    if let Some(file) = history {
        // A history that cannot be saved is not an error.
        let _ = editor.save_history(&file);
    }
    Ok(Outcome::Clean)
}

fn set(parameters: &mut Vec<(String, SqlValue)>, name: String, value: SqlValue) {
    parameters.retain(|(known, _)| *known != name);
    parameters.push((name, value));
}

fn editor() -> rustyline::Result<Line> {
    let config = Config::builder()
        .auto_add_history(false)
        .completion_type(CompletionType::List);
    let mut editor = Editor::with_config(config.build())?;
    editor.set_helper(Some(SqlHelper::new()));
    Ok(editor)
}

fn terminal(error: ReadlineError) -> CliError {
    CliError::Terminal(error.to_string())
}

/// The history file in `$XDG_STATE_HOME/sto`, a folder that only the user can read; `None` if it cannot be made.
fn history() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name);
    let state = user_folder(&variable, "XDG_STATE_HOME", ".local/state")?;
    let folder = state.join("sto");
    let made = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder);
    made.ok().map(|()| folder.join("sql_history"))
}

/// Makes Ctrl-C cancel the running query instead of the shell; returns a handle to that query.
fn stopped_by_interrupts() -> Arc<Mutex<CancelToken>> {
    let running: Arc<Mutex<CancelToken>> = Arc::default();
    let stopped = running.clone();
    if let Ok(mut requests) = interrupt::requests() {
        thread::spawn(move || {
            for signal in requests.forever() {
                stopped
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .cancel();
                if signal != signal_hook::consts::SIGINT {
                    interrupt::temporaries().remove_all_at_exit();
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        });
    }
    running
}
