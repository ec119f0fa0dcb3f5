//! The layer between commands and the machine: the terminal, files, the store, other programs,
//! and the mapping of errors to exit statuses.

pub(crate) mod browser;
pub(crate) mod config;
pub(crate) mod destination;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod git;
pub(crate) mod hints;
pub(crate) mod in_order;
pub(crate) mod interrupt;
pub(crate) mod memory;
pub(crate) mod next_steps;
pub(crate) mod output;
pub(crate) mod owner;
pub(crate) mod pager;
pub(crate) mod panics;
pub(crate) mod perf;
pub(crate) mod progress;
pub(crate) mod source_choices;
pub(crate) mod store_path;
pub(crate) mod text;
pub(crate) mod threads;
pub(crate) mod ui;
pub(crate) mod user_folder;

pub(crate) use environment::{Machine, now};
pub(crate) use error::{CliError, Outcome, WINDOW_EXIT_STATUS};
pub(crate) use hints::WORDS;
pub(crate) use output::{FormatArg, LimitArg};
pub(crate) use progress::Progress;
pub(crate) use store_path::{StorePath, context};
