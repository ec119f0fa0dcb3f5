//! Runs perf.

use crate::runtime::{CliError, Outcome, interrupt};
use clap::ValueEnum;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

/// How perf finds callers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CallGraph {
    /// Frame pointers: cheap, for programs built with -fno-omit-frame-pointer
    Fp,
    /// Copies of the stack, unwound with the call frame information of any program
    Dwarf,
}

/// Parameters of a recording with perf.
pub(crate) struct Recording<'a> {
    pub(crate) frequency: u32,
    pub(crate) call_graph: CallGraph,
    /// The events to sample; if empty, perf chooses.
    pub(crate) events: &'a [String],
    /// Whether to record the time that threads do not run, too, besides `cpu-clock`.
    pub(crate) off_cpu: bool,
    pub(crate) target: Target<'a>,
    pub(crate) command: &'a [OsString],
    /// Whether the command's standard output is discarded.
    pub(crate) is_silent: bool,
    /// The folder in which the command runs [default: the working directory].
    pub(crate) folder: Option<&'a Path>,
}

/// The processes to record.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// The command and the processes that it starts.
    Command,
    /// These processes.
    Processes(&'a [u32]),
    /// All processes of the machine.
    System,
}

/// Runs perf and other commands. Requests to end this process (Ctrl-C, SIGTERM) are passed on
/// to perf, which then finishes writing its recording.
pub(crate) struct Perf {
    running: Arc<Mutex<Vec<Running>>>,
    /// The signal that asked this process to end, or 0.
    signal: Arc<AtomicI32>,
    /// The options of [`NEWER`] that the installed perf supports.
    newer: Vec<&'static str>,
    /// The one of [`SWITCHES`] that perf may sample.
    switches: &'static str,
}

/// Options that older versions of perf lack.
const NEWER: [&str; 3] = [
    // The kernel reads the build id of each file that is mapped (Linux 5.12), while perf looks at the recorded paths when
    // the program has ended: those may be paths in a container, or have another file by then.
    "--buildid-mmap",
    // Build ids of files without samples (Linux 4.7): without them, the names of their frames differ between runs.
    "--buildid-all",
    // No events for BPF programs (Linux 5.1): perf waits for them up to a second at the end, and /proc/kallsyms names them, too.
    "--no-bpf-event",
];

/// Events that are sampled when a thread stops running, the most informative one first. Only root may use tracepoints.
const SWITCHES: [&str; 2] = ["sched:sched_switch", "context-switches/period=1/"];

/// A child process that must end when this process is asked to.
#[derive(Clone, Copy, PartialEq)]
struct Running {
    pid: Pid,
    /// The signal to send; perf finishes its recording on SIGINT.
    signal: Signal,
    /// Whether to signal its whole process group.
    is_group: bool,
}

impl Running {
    /// Sends the signal. Errors are ignored: the terminal may have signalled the process already, or it is gone.
    fn end(self) {
        let _ = if self.is_group {
            kill_process_group(self.pid, self.signal)
        } else {
            kill_process(self.pid, self.signal)
        };
    }
}

impl Perf {
    /// Handles requests to end this process: from now on, they are only recorded and passed on to its children.
    pub(crate) fn new() -> Result<Perf, CliError> {
        let mut requests = interrupt::requests().map_err(cannot_run)?;
        let perf = Perf {
            running: Arc::default(),
            signal: Arc::default(),
            newer: NEWER.into(),
            switches: SWITCHES[0],
        };
        let (running, asked) = (Arc::clone(&perf.running), Arc::clone(&perf.signal));
        let pass_on = move || {
            for signal in requests.forever() {
                asked.store(signal, Ordering::SeqCst);
                if let Ok(running) = running.lock() {
                    running.iter().for_each(|running: &Running| running.end());
                }
            }
        };
        thread::Builder::new().spawn(pass_on).map_err(cannot_run)?;
        Ok(perf)
    }

    /// The request to end this process, if there was one.
    pub(crate) fn interrupted(&self) -> Option<Outcome> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(Outcome::Interrupted(signal)),
        }
    }

    /// Records into a file, and returns the exit status of the command, which has this
    /// process's standard input, output and error.
    pub(crate) fn record(
        &self,
        recording: &Recording<'_>,
        file: &Path,
    ) -> Result<ExitStatus, CliError> {
        let mut perf = recording.perf(file, self.switches);
        perf.args(&self.newer);
        recording.add_command(&mut perf);
        perf.current_dir(recording.folder.unwrap_or(Path::new(".")));
        self.wait(&mut perf, Signal::INT, false).map_err(cannot_run)
    }

    /// Runs a command without recording it, and returns its exit status.
    pub(crate) fn run(
        &self,
        command: &[OsString],
        folder: Option<&Path>,
        is_silent: bool,
    ) -> Result<ExitStatus, CliError> {
        let [program, args @ ..] = command else {
            unreachable!("a command has a program")
        };
        let mut command = Command::new(program);
        command.args(args);
        command.current_dir(folder.unwrap_or(Path::new(".")));
        if is_silent {
            command.stdout(Stdio::null());
        }
        let ran = self.wait(&mut command, Signal::TERM, false);
        ran.map_err(|source| CliError::RunCommand {
            command: program.to_string_lossy().into_owned(),
            source,
        })
    }

    /// Runs a shell command that builds something in a folder, with its output in a file. Several may run at once. All its
    /// processes end when this process is asked to end.
    pub(crate) fn build(&self, line: &str, folder: &Path, log: &File) -> io::Result<ExitStatus> {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(folder)
            .process_group(0);
        shell.stdin(Stdio::null()).stdout(log.try_clone()?);
        shell.stderr(log.try_clone()?);
        self.wait(&mut shell, Signal::TERM, true)
    }

    fn wait(
        &self,
        command: &mut Command,
        signal: Signal,
        is_group: bool,
    ) -> io::Result<ExitStatus> {
        let mut child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let running = pid.map(|pid| Running {
            pid,
            signal,
            is_group,
        });
        self.running().extend(running);
        if let Some(running) = running.filter(|_| self.interrupted().is_some()) {
            running.end();
        }
        let status = child.wait();
        self.running().retain(|known| Some(*known) != running);
        status
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        // The signal thread never panics while it holds the lock.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error if perf is missing or cannot record this.
    pub(crate) fn check(
        &mut self,
        folder: &Path,
        recording: &Recording<'_>,
    ) -> Result<(), CliError> {
        let probe = |newer: &[&str], switches: &str| {
            let mut probe = Command::new("perf");
            probe.args(["record", "-q", "--no-buildid"]).args(newer);
            probe.arg("-o");
            probe.arg(folder.join("probe"));
            recording.add_events(&mut probe, switches);
            if let Target::System = recording.target {
                probe.arg("-a");
            }
            probe.args(["--", "true"]).stdin(Stdio::null());
            probe.output().map_err(cannot_run)
        };
        let stderr = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
        let mut output = probe(&self.newer, self.switches)?;
        // perf names the first option that it does not know.
        for option in NEWER {
            let unknown = format!("unknown option `{}'", option.trim_start_matches('-'));
            let is_unknown = stderr(&output).contains(&unknown);
            let kernel_lacks_it = option == "--buildid-mmap"
                && stderr(&output).contains("no support to record build id");
            if is_unknown || kernel_lacks_it {
                self.newer.retain(|&known| known != option);
                output = probe(&self.newer, self.switches)?;
            }
        }
        if recording.off_cpu && !output.status.success() {
            self.switches = SWITCHES[1];
            output = probe(&self.newer, self.switches)?;
        }
        if output.status.success() {
            return Ok(());
        }
        let stderr = stderr(&output);
        let lines = stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        // The first lines say what is wrong; pages of advice for other cases follow.
        let lines: Vec<&str> = lines
            .skip_while(|line| line.trim_end_matches(':') == "Error")
            .take(2)
            .collect();
        let is_event = stderr.contains("event syntax error");
        let message = if is_event {
            lines[0].to_owned()
        } else {
            lines.join(" ")
        };
        Err(if is_event {
            CliError::NoEvent { message }
        } else {
            CliError::PerfRefused { message }
        })
    }
}

impl Recording<'_> {
    fn perf(&self, file: &Path, switches: &str) -> Command {
        let mut perf = Command::new("perf");
        // jitdumps use this clock.
        perf.args(["record", "-q", "-k", "mono"])
            .arg("--call-graph")
            .arg(match self.call_graph {
                CallGraph::Fp => "fp",
                CallGraph::Dwarf => "dwarf",
            })
            .arg("-o")
            .arg(file);
        self.add_events(&mut perf, switches);
        match self.target {
            Target::Command => {}
            Target::Processes(pids) => {
                let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                perf.arg("-p").arg(pids.join(","));
            }
            Target::System => {
                perf.arg("-a");
            }
        }
        perf
    }

    fn add_events(&self, perf: &mut Command, switches: &str) {
        if self.off_cpu {
            // With -F, switches would be sampled, too.
            let clock = format!("cpu-clock/freq={}/", self.frequency);
            perf.args(["--switch-events", "-e", &clock, "-e", switches]);
            return;
        }
        perf.arg("-F").arg(self.frequency.to_string());
        for event in self.events {
            perf.arg("-e").arg(event);
        }
    }

    /// Adds the command. Must be called last: all further arguments belong to the command.
    fn add_command(&self, perf: &mut Command) {
        if !self.command.is_empty() {
            perf.arg("--").args(self.command);
        }
        if self.is_silent {
            perf.stdout(Stdio::null());
        }
    }
}

/// Returns an error if there is no such program, because perf does not distinguish that from its own failures.
pub(crate) fn check_command(program: &OsStr) -> Result<(), CliError> {
    check_command_in(Path::new(""), program)
}

/// Like [`check_command`], for a program that runs in a folder.
pub(crate) fn check_command_in(folder: &Path, program: &OsStr) -> Result<(), CliError> {
    let command = || program.to_string_lossy().into_owned();
    let is_program = |path: &Path| {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let has_folder = program.as_encoded_bytes().contains(&b'/');
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_found = if has_folder {
        is_program(&folder.join(program))
    } else {
        std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
    };
    match folder.join(program).metadata() {
        _ if is_found => Ok(()),
        Ok(found) if has_folder && found.is_dir() => {
            Err(CliError::FolderAsCommand { command: command() })
        }
        Ok(_) if has_folder => Err(CliError::NotExecutable { command: command() }),
        Ok(found) if found.is_file() => Err(CliError::NotInPath { command: command() }),
        _ => Err(CliError::NoCommand { command: command() }),
    }
}

/// Returns an error if there is no such process or its mappings cannot be read, which perf does not
/// report.
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
