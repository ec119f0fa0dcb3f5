//! Errors, their presentation, and the exit status. Exit statuses are decided only here.

mod hint;

use crate::runtime::git::GitError;
use crate::runtime::{hints, ui};
use std::error::Error;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use sto_core::Hint;
use sto_core::files::User;
use sto_core::ingest::IngestError;
use sto_core::memory::MemoryLimitExceeded;
use sto_core::store::StoreError;
use sto_query::QueryError;
use sto_query::error::{
    AnnotateError, CorrelateError, FunctionError, HistoryError, MergeError, ModelError, SourceError,
};
use sto_query::places::PlaceError;
use sto_query::policy::PolicyError;
use sto_query::tables::SqlError;
use sto_query::text::printable;

/// The outcome of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Success, with nothing to report by the exit status.
    Clean,
    /// The candidate is slower than the baseline.
    Regressions,
    /// Two symbols are not matched as one function.
    NoMatch,
    /// Too little data for a verdict, or nothing that matches the request.
    TooLittleData,
    /// A signal from the user ended the command.
    Interrupted(i32),
    /// The recorded command ended with this status.
    Command(ExitStatus),
    /// The client of the language server ended the session without a `shutdown` request, for which LSP prescribes a status.
    NotShutDown,
}

/// Exit statuses in the help of commands that need previous runs.
pub(crate) const WINDOW_EXIT_STATUS: &str =
    "Exit status: 0 success, 2 wrong usage or failure, 3 fewer than two previous runs.";

impl Outcome {
    /// The outcome of a command that judges a run by `runs` previous runs.
    pub(crate) fn from_window(runs: usize) -> Outcome {
        match runs {
            0 | 1 => Outcome::TooLittleData,
            _ => Outcome::Clean,
        }
    }

    fn status(self) -> u8 {
        match self {
            Outcome::Clean => 0,
            Outcome::Regressions | Outcome::NoMatch | Outcome::NotShutDown => 1,
            Outcome::TooLittleData => 3,
            // The convention of shells for a command that a signal ended.
            Outcome::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(FAILURE),
            Outcome::Command(status) => status_of(status),
        }
    }
}

/// The exit status of a command by the convention of shells: 128 plus the signal's number if a signal
/// ended it.
pub(crate) fn status_of(status: ExitStatus) -> u8 {
    let status = status
        .code()
        .or_else(|| Some(128 + status.signal()?))
        .and_then(|status| u8::try_from(status).ok());
    status.unwrap_or(FAILURE)
}

/// Wrong usage or failure; clap uses the same status for invalid arguments.
pub(crate) const FAILURE: u8 = 2;

/// The hint for errors that are caused by too little memory.
pub(crate) const MORE_MEMORY: &str =
    "raise the limit with `--max-memory SIZE`, if the machine has more memory";

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    #[cfg(feature = "serve")]
    Serve(#[from] sto_serve::ServeError),
    #[error("{url}: the server's answer cannot be read; it may be of another version")]
    ServerAnswer {
        url: String,
        source: serde_json::Error,
    },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("not every profile could be merged or sent: {profiles} left out, as listed above")]
    LeftOut { profiles: usize },
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(
        "commit {id} is one end of the search and cannot be measured: {}",
        printable(why)
    )]
    EndNotMeasured { id: String, why: String },
    #[error("{}, {source}", path.display())]
    Annotate {
        path: PathBuf,
        source: AnnotateError,
    },
    #[error("{}: {source}", path.display())]
    Model { path: PathBuf, source: ModelError },
    #[error("expected {0}")]
    Names(&'static str),
    #[error(
        "`{0}` only applies to one variable; with two `--x`, the model is a normal form, as text or JSON"
    )]
    OfOneVariable(&'static str),
    #[error("`{0}` only applies to one group of points, but the file has several")]
    OfOneGroup(&'static str),
    #[error("`{option}` only applies to `--kind {kinds}`, but the kind is {kind}")]
    OtherKind {
        option: &'static str,
        kinds: String,
        kind: String,
    },
    #[error("`{0}` applies to none of the detectors that run; add `--detector local-statistics`")]
    OptionOfDetector(&'static str),
    #[error("`--no-change` (default 10) must not be above `--change` (default 25)")]
    ThresholdOrder,
    #[error("{}: {source}", path.display())]
    Correlate {
        path: PathBuf,
        source: CorrelateError,
    },
    #[error(
        "a trace belongs to one recording, but there are {recordings}; ingest the recording of the trace separately"
    )]
    TraceOfSeveral { recordings: usize },
    #[error("{}: the store is damaged in {places} place{}", folder.display(), if *places == 1 { "" } else { "s" })]
    DamagedStore { folder: PathBuf, places: usize },
    #[error("{}, line {line}: {message}", path.display())]
    Config {
        path: PathBuf,
        line: usize,
        message: String,
    },
    #[error("{}, {source}", path.display())]
    Policy { path: PathBuf, source: PolicyError },
    #[error("{}: this {what} was found, not named, and belongs to {owner}, not to you", path.display())]
    OtherUsers {
        what: &'static str,
        path: PathBuf,
        owner: User,
        option: &'static str,
    },
    #[error("there is no folder to look for a store in: HOME is not set")]
    NoStorePath,
    #[error("an SVG drawing would fill the terminal with markup")]
    DrawingOnTerminal,
    #[error("cannot read {}", path.display())]
    ReadFile { path: PathBuf, source: io::Error },
    #[error("cannot read the folder {}", path.display())]
    ReadFolder { path: PathBuf, source: io::Error },
    #[error("{}: no file in {} is a profile that sto can read", folders.join(", "),
        if folders.len() == 1 { "this folder" } else { "these folders" })]
    NoProfiles { folders: Vec<String> },
    #[error(
        "the {what} `{}` is given twice; a run has one value of each",
        printable(name)
    )]
    GivenTwice { what: &'static str, name: String },
    #[error("standard input can be read once, but `-` is named twice")]
    StdinTwice,
    #[error("this format would fill the terminal with bytes")]
    BinaryOnTerminal,
    #[error("--debuginfod: this program was built without debuginfod")]
    WithoutDebuginfod,
    #[error("a dataset contains only whole profiles")]
    PartOfDataset,
    #[error("a dataset is a folder of files and cannot be written to standard output")]
    DatasetToStdout,
    #[error("--x only applies to model output (--format perun)")]
    XWithoutModels,
    #[error(transparent)]
    Sql(SqlError),
    #[error("`{}` is not a command of the shell", printable(.0))]
    UnknownDotCommand(String),
    #[error("there is no table or function `{}`", printable(.0))]
    UnknownTable(String),
    #[error("there is no built-in query `{}`", printable(.0))]
    UnknownExample(String),
    #[error("cannot read from the terminal: {0}")]
    Terminal(String),
    #[error("cannot find `perf`, which is needed to record")]
    NoPerf,
    #[error("perf cannot record: {message}")]
    PerfRefused { message: String },
    #[error("perf recorded nothing: it ended with status {status}")]
    NothingRecorded { status: u8 },
    #[error("no sample was taken: the program ended too soon, or only waited")]
    NoSamples,
    #[error("there is no process {pid} to record")]
    NoProcess { pid: u32 },
    #[error("perf has no permission to record process {pid}")]
    ProcessRefused { pid: u32, source: io::Error },
    #[error("{}: there is no such program to run", printable(command))]
    NoCommand { command: String },
    #[error("{}: this file is not executable", printable(command))]
    NotExecutable { command: String },
    #[error("{}: this is a folder, not a program", printable(command))]
    FolderAsCommand { command: String },
    #[error("{}: there is no such program in $PATH", printable(command))]
    NotInPath { command: String },
    #[error("{}: cannot run it", printable(command))]
    RunCommand { command: String, source: io::Error },
    #[error("{}: cannot split this command line into words", printable(line))]
    CommandLine { line: String },
    #[error("`{line}` has no placeholder `{place}`")]
    NoPlace { place: String, line: String },
    #[error("perf does not know the event: {message}")]
    NoEvent { message: String },
    #[error("{}: there is no room for the recording on this file system", folder.display())]
    NoRoom { folder: PathBuf },
    #[error("cannot run {program}")]
    Run {
        program: &'static str,
        source: io::Error,
    },
    #[error("found no browser to open {} with", path.display())]
    NoBrowser { path: PathBuf },
    #[error("cannot run the browser {}", printable(program))]
    Browser { program: String, source: io::Error },
    #[error("cannot write {}", path.display())]
    WriteFile { path: PathBuf, source: io::Error },
    #[error("no build is shown yet")]
    NothingShown,
    #[error("cannot write to standard output")]
    Stdout(#[source] io::Error),
    #[error("internal error (please report it): {}", printable(text))]
    Panicked { text: String },
}

impl CliError {
    /// The hint that the library gives for this error.
    fn library_hint(&self) -> Option<Hint> {
        match self {
            CliError::Store(error) => error.hint(),
            CliError::Merge(error) => error.source.hint(),
            CliError::Ingest(error) => error.hint(),
            CliError::Query(error) => error.hint(),
            CliError::Annotate { source, .. } => source.hint(),
            _ => None,
        }
    }

    /// The functions that match an ambiguous name.
    fn functions(&self) -> &[String] {
        match self {
            CliError::Query(
                QueryError::Function(FunctionError::Several { names, .. })
                | QueryError::History(HistoryError::Function(FunctionError::Several {
                    names, ..
                }))
                | QueryError::Source(SourceError::Function(FunctionError::Several { names, .. })),
            ) => names,
            _ => &[],
        }
    }

    /// Whether the reader of the output closed it, which is not a failure of this command.
    fn is_broken_pipe(&self) -> bool {
        let CliError::WriteFile { source, .. } = self else {
            return false;
        };
        source.kind() == io::ErrorKind::BrokenPipe
    }
}

impl From<SqlError> for CliError {
    /// Unwraps errors of queries that SQL functions run.
    fn from(error: SqlError) -> CliError {
        match error {
            SqlError::Question(error) => CliError::Query(*error),
            error => CliError::Sql(error),
        }
    }
}

/// Prints the error, if there is one, and returns the exit code.
pub(crate) fn report(result: Result<Outcome, CliError>) -> ExitCode {
    let error = match result {
        Ok(outcome) => return ExitCode::from(outcome.status()),
        Err(error) if error.is_broken_pipe() => return ExitCode::SUCCESS,
        Err(error) => error,
    };
    let message = sentence(&error);
    let takes_too_much = causes(&error).any(|cause| cause.is::<MemoryLimitExceeded>());
    match error.functions() {
        [] => ui::print_message("error", &message),
        names => ui::print_list(&format!("error: {message}"), names),
    }
    if let CliError::Sql(SqlError::Syntax { place, .. }) = &error {
        ui::print_text(&place.clone().map(|line| format!("  {line}\n")).concat());
    }
    let hint = error.hint();
    if let Some(hint) = hint.or_else(|| takes_too_much.then(|| MORE_MEMORY.to_owned())) {
        ui::print_message("hint", &hint);
    }
    ExitCode::from(FAILURE)
}

/// The error with its causes and the library's hint.
pub(crate) fn sentence(error: &CliError) -> String {
    hints::with_hint(&with_causes(error), error.library_hint())
}

/// The error, and the causes that its message does not contain already.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    for cause in causes(error) {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
    }
    message
}

fn causes(error: &dyn Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}
