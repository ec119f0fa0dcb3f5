//! Shell completion of commands, options, and names in the store.
//!
//! The script of `sto completions SHELL` makes the shell run `sto` again with `$COMPLETE` set. It answers
//! within [`TIME_LIMIT`] or not at all, and reports no failures: the user is in the middle of a line.

mod bash;
mod names;

use crate::runtime::config::Config;
use crate::runtime::store_path;
use bash::Bash;
use clap::builder::ValueHint;
use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{CompleteEnv, Shell};
use names::Name;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, thread};

/// Time limit for reading the store, which another process may be writing.
const TIME_LIMIT: Duration = Duration::from_millis(800);

/// Maximum number of names to offer.
const MAX_NAMES: usize = 500;

/// The environment variable that a shell sets to request completions.
const VARIABLE: &str = "COMPLETE";

const SHELLS: Shells<'static> = Shells(&[&Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// Answers a request of a shell for completions; returns whether there was one.
pub(crate) fn answer_request(line: fn() -> Command) -> bool {
    if env::var_os(VARIABLE).is_none_or(|shell| shell.is_empty()) {
        return false;
    }
    let asked = CompleteEnv::with_factory(|| with_names(line()))
        .var(VARIABLE)
        .shells(SHELLS)
        .try_complete(env::args_os(), env::current_dir().ok().as_deref());
    asked.unwrap_or_else(|error| {
        let _ = error.print();
        true
    })
}

/// The script that enables completion in a shell.
pub(crate) fn registration(shell: Shell) -> Vec<u8> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::PowerShell => &Powershell,
        _ => &Zsh,
    };
    let mut script = Vec::new();
    let written = completer.write_registration(VARIABLE, "sto", "sto", &program(), &mut script);
    written.expect("memory takes every script");
    script
}

/// The path by which the shell can run this program.
fn program() -> String {
    let name = env::args_os()
        .next()
        .unwrap_or_else(|| OsString::from("sto"));
    let path = Path::new(&name);
    let path = match path.components().count() {
        0 | 1 => path.to_owned(),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    };
    path.to_string_lossy().into_owned()
}

/// Adds completion of names to the arguments of a command.
fn with_names(command: Command) -> Command {
    command.mut_subcommands(|subcommand| subcommand.mut_args(with_names_of))
}

fn with_names_of(argument: Arg) -> Arg {
    let names: &[Name] = match argument.get_id().as_str() {
        "selector" | "selectors" | "any_baseline" | "candidate" | "baseline" | "keep" => {
            &[Name::Build, Name::Tag]
        }
        "build" if argument.is_positional() => &[Name::Build, Name::Tag],
        "delete" => &[Name::Tag],
        "benchmark" | "benchmarks" => &[Name::Benchmark],
        "exe" => &[Name::Executable],
        "metric" | "per" => &[Name::Metric],
        "function" | "focus" | "ignore" => &[Name::Function],
        _ => return argument,
    };
    let may_be_file = argument.is_positional() && names.contains(&Name::Build);
    argument
        .value_hint(ValueHint::Other)
        .add(ArgValueCompleter::new(move |typed: &OsStr| {
            let mut found = stored(names, typed);
            if may_be_file {
                found.extend(PathCompleter::any().complete(typed));
            }
            found
        }))
}

/// The names in the store that begin with `typed`; empty if the store cannot be read.
fn stored(names: &'static [Name], typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str().map(str::to_owned) else {
        return Vec::new();
    };
    // Without a readable configuration, the line may still name the store.
    let config = Config::load().unwrap_or_default();
    let found = store_path::find(store_option(), config.store, &config.safe_stores);
    let Ok(store) = found else {
        return Vec::new();
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let found = names::matching(names, &store.folder, &typed).unwrap_or_default();
        let _ = sender.send(found);
    });
    let found = receiver.recv_timeout(TIME_LIMIT).unwrap_or_default();
    let found = found.into_iter().take(MAX_NAMES).enumerate();
    found
        .map(|(order, (name, what))| {
            CompletionCandidate::new(name)
                .help(what.map(Into::into))
                // Keep the order: newest builds first.
                .display_order(Some(order))
        })
        .collect()
}

/// The store that the unfinished line names.
fn store_option() -> Option<PathBuf> {
    let words = env::args_os().skip_while(|word| word != "--").skip(1);
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        // Bash passes the whole line as one argument.
        .flat_map(|word| {
            if word.contains(' ') {
                bash::words_of(&word)
            } else {
                vec![word]
            }
        })
        .collect();
    let named = words.iter().zip(words.iter().skip(1));
    let mut named = named.filter(|(option, _)| *option == "--store");
    let mut joined = words
        .iter()
        .filter_map(|word| word.strip_prefix("--store="));
    let store = named.next().map(|(_, store)| store.as_str());
    store.or_else(|| joined.next()).map(PathBuf::from)
}
