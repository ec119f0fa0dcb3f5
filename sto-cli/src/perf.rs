//! Running perf.

use crate::error::CliError;
use clap::ValueEnum;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How perf finds callers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CallGraph {
    /// Frame pointers: cheap, for programs built with -fno-omit-frame-pointer
    Fp,
    /// Copies of the stack, unwound with the call frame information of any program
    Dwarf,
}

/// What perf is to record, and how.
pub(crate) struct Recording<'a> {
    pub(crate) frequency: u32,
    pub(crate) call_graph: CallGraph,
    /// The process to record; without one, the command and what it starts.
    pub(crate) pid: Option<u32>,
    pub(crate) command: &'a [OsString],
}

/// How a recording ended.
pub(crate) struct Ended {
    /// That of perf, which is the command's.
    pub(crate) status: ExitStatus,
    /// Whether the user ended it (Ctrl-C, or a request to terminate).
    pub(crate) interrupted: bool,
}

/// Sees whether perf is there and may record.
pub(crate) fn check(folder: &Path) -> Result<(), CliError> {
    let output = Command::new("perf")
        .args(["record", "-q", "--no-buildid", "-o"])
        .arg(folder.join("probe"))
        .args(["--", "true"])
        .stdin(Stdio::null())
        .output()
        .map_err(cannot_run)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().map(str::trim).filter(|line| !line.is_empty());
    // The first lines say what is wrong; pages of advice for other cases follow.
    let said: Vec<&str> = said
        .skip_while(|line| line.trim_end_matches(':') == "Error")
        .take(2)
        .collect();
    let said = said.join(" ");
    Err(CliError::PerfRefused { said })
}

/// Sees whether there is such a program, as perf does not tell that from its own failures.
pub(crate) fn check_command(program: &OsStr) -> Result<(), CliError> {
    let is_program = |path: &Path| {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = if program.as_encoded_bytes().contains(&b'/') {
        is_program(Path::new(program))
    } else {
        std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
    };
    found.then_some(()).ok_or_else(|| CliError::NoCommand {
        command: program.to_string_lossy().into_owned(),
    })
}

/// Records into a file. The command has this process's standard input, output and error.
pub(crate) fn record(recording: &Recording<'_>, file: &Path) -> Result<Ended, CliError> {
    let mut perf = Command::new("perf");
    // jitdumps have times of this clock.
    perf.args(["record", "-q", "-k", "mono", "-F"])
        .arg(recording.frequency.to_string())
        .arg("--call-graph")
        .arg(match recording.call_graph {
            CallGraph::Fp => "fp",
            CallGraph::Dwarf => "dwarf",
        })
        .arg("-o")
        .arg(file);
    if let Some(pid) = recording.pid {
        perf.arg("-p").arg(pid.to_string());
    }
    if !recording.command.is_empty() {
        perf.arg("--").args(recording.command);
    }
    run(&mut perf).map_err(cannot_run)
}

/// Runs perf to its end. What asks this process to end is handed on: perf then writes what it has.
fn run(perf: &mut Command) -> io::Result<Ended> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let handle = signals.handle();
    let interrupted = AtomicBool::new(false);
    let mut child = perf.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in signals.forever() {
                interrupted.store(true, Ordering::Relaxed);
                // A terminal tells perf too; one that is gone needs no telling.
                let _ = pid.map(|pid| kill_process(pid, Signal::INT));
            }
        });
        let status = child.wait();
        handle.close();
        status
    })?;
    Ok(Ended {
        status,
        interrupted: interrupted.into_inner(),
    })
}

fn cannot_run(source: io::Error) -> CliError {
    match source.kind() {
        io::ErrorKind::NotFound => CliError::NoPerf,
        _ => CliError::Run {
            program: "perf",
            source,
        },
    }
}
