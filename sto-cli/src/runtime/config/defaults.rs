//! Defaults of options.

use super::value::ConfigProblem;
use clap::error::ErrorKind;
use clap::{Arg, Command};

/// The default of an option.
#[derive(Debug)]
pub(super) struct OptionDefault {
    /// The command with the option; `None` for a global option.
    pub(super) command: Option<String>,
    pub(super) option: String,
    pub(super) values: Vec<String>,
    pub(super) line: usize,
}

impl OptionDefault {
    /// Adds this default to the command line.
    pub(super) fn add_to(&self, command: Command) -> Result<Command, ConfigProblem> {
        let problem = |message| ConfigProblem {
            line: self.line,
            message,
        };
        let of_command = match &self.command {
            None => &command,
            Some(name) => command
                .find_subcommand(name)
                .filter(|found| found.get_name() == name)
                .ok_or_else(|| problem(format!("there is no command `{name}`")))?,
        };
        let named = |arg: &&Arg| arg.get_long() == Some(self.option.as_str());
        let found = of_command.get_arguments().find(named);
        let Some(id) = found.map(|arg| arg.get_id().clone()) else {
            let what = match &self.command {
                Some(name) => format!("`sto {name}` has"),
                None => "the command line as a whole has".to_owned(),
            };
            return Err(problem(format!("{what} no option `--{}`", self.option)));
        };
        // The command line and its defaults live as long as the process.
        let values: Vec<&'static str> = self.values.iter().map(|v| &*v.clone().leak()).collect();
        let with_default = |arg: Arg| arg.required(false).default_values(values);
        let (command, line) = match &self.command {
            None => (command.mut_arg(id, with_default), vec!["sto"]),
            Some(name) => (
                command.mut_subcommand(name, |found| found.mut_arg(id, with_default)),
                vec!["sto", name],
            ),
        };
        // clap validates defaults before it looks for missing arguments.
        match command.clone().try_get_matches_from(line) {
            Err(error) if is_value_error(error.kind()) => {
                let text = error.to_string();
                let message = text.lines().next().unwrap_or_default();
                Err(problem(message.trim_start_matches("error: ").to_owned()))
            }
            _ => Ok(command),
        }
    }
}

fn is_value_error(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidValue
            | ErrorKind::ValueValidation
            | ErrorKind::WrongNumberOfValues
            | ErrorKind::TooManyValues
            | ErrorKind::TooFewValues
    )
}
