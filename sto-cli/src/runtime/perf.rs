//! Running perf.

use crate::runtime::error::CliError;
use crate::runtime::interrupt;
use clap::ValueEnum;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

/// perf, and what this process is asked meanwhile: a request to end it (Ctrl-C, SIGTERM) is handed on
/// to perf, which then writes what it has.
pub(crate) struct Perf {
    running: Arc<Mutex<Option<Pid>>>,
    interrupted: Arc<AtomicBool>,
}

impl Perf {
    /// From here on, this process goes on where it is asked to end, until perf has ended.
    pub(crate) fn new() -> Result<Perf, CliError> {
        let mut requests = interrupt::requests().map_err(cannot_run)?;
        let perf = Perf {
            running: Arc::default(),
            interrupted: Arc::default(),
        };
        let (running, interrupted) = (Arc::clone(&perf.running), Arc::clone(&perf.interrupted));
        thread::spawn(move || {
            for _ in requests.forever() {
                interrupted.store(true, Ordering::SeqCst);
                if let Ok(running) = running.lock()
                    && let Some(pid) = *running
                {
                    // A terminal told perf already; to one that is gone there is nothing to say.
                    let _ = kill_process(pid, Signal::INT);
                }
            }
        });
        Ok(perf)
    }

    /// Whether this process was asked to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Records into a file, and tells how perf ended, which is how the command did. That has this
    /// process's standard input, output and error.
    pub(crate) fn record(
        &self,
        recording: &Recording<'_>,
        file: &Path,
    ) -> Result<ExitStatus, CliError> {
        let mut perf = recording.perf(file);
        let mut child = perf.spawn().map_err(cannot_run)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        self.set_running(pid);
        if let Some(pid) = pid.filter(|_| self.is_interrupted()) {
            let _ = kill_process(pid, Signal::INT);
        }
        let status = child.wait().map_err(cannot_run);
        self.set_running(None);
        status
    }

    fn set_running(&self, pid: Option<Pid>) {
        // The thread that has the other side never panics with the lock.
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }
}

impl Recording<'_> {
    fn perf(&self, file: &Path) -> Command {
        let mut perf = Command::new("perf");
        // jitdumps have times of this clock.
        perf.args(["record", "-q", "-k", "mono", "-F"])
            .arg(self.frequency.to_string())
            .arg("--call-graph")
            .arg(match self.call_graph {
                CallGraph::Fp => "fp",
                CallGraph::Dwarf => "dwarf",
            })
            .arg("-o")
            .arg(file);
        if let Some(pid) = self.pid {
            perf.arg("-p").arg(pid.to_string());
        }
        if !self.command.is_empty() {
            perf.arg("--").args(self.command);
        }
        perf
    }
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

/// Sees whether there is such a process and perf may look at what it has mapped: of either perf says
/// nothing.
pub(crate) fn check_process(pid: u32) -> Result<(), CliError> {
    match File::open(format!("/proc/{pid}/maps")) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(CliError::NoProcess { pid }),
        Err(source) => Err(CliError::ProcessRefused { pid, source }),
    }
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
