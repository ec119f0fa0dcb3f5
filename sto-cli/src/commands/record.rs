//! `sto record`: runs a program under perf, and stores what it did.

use crate::args::about::About;
use crate::runtime::environment;
use crate::runtime::error::{CliError, Outcome, status_of};
use crate::runtime::perf::{self, CallGraph, Perf};
use crate::runtime::store_path::StorePath;
use crate::runtime::ui::{self, Progress};
use clap::Args;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use sto_core::formats::{FormatError, run_time};
use sto_core::ingest::{IngestError, IngestOptions, IngestReport, ingest};
use sto_core::store::Store;
use sto_query::render::{self, Style};
use sto_query::report::{IngestSummary, RecordingReport};

const EXAMPLES: &str = "\
Examples:
  sto record --build v1 -- ./server --port 80       Record a program until it ends, or until Ctrl-C
  sto record --build v1 --runs 5 -- ./benchmark     Record five runs, to compare builds by
  sto record --call-graph dwarf -- ./stripped       Where programs have no frame pointers
  sto record -p 1234 -- sleep 10                    Record a running process for ten seconds

Exit status: that of the command; 128 and the signal's number where a signal ended it; 2 where sto fails.";

/// Record a program with perf, and store the runs
///
/// The program has this command's standard input and output; the report goes to standard error. Where
/// standard input is a file, each of several runs reads all of it. Each run has two metrics: `seconds`, from the program's start to its end, and `exit_status`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    about: About,

    /// Sample so many times a second
    #[arg(short = 'F', long, value_name = "HZ", default_value = "997", value_parser = clap::value_parser!(u32).range(1..))]
    frequency: u32,

    /// Choose how callers are found
    #[arg(long, value_enum, default_value = "fp")]
    call_graph: CallGraph,

    /// Record the command so many times; a run that fails is the last
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "process"
    )]
    runs: u32,

    /// Record this running process, until it or the command ends, or until Ctrl-C
    #[arg(short = 'p', long = "pid", value_name = "PID", id = "process")]
    pid: Option<u32>,

    /// Keep the recordings in this folder, with the perf maps and jitdumps of their programs
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Run this command
    #[arg(last = true, required_unless_present = "process")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &RecordArgs, place: &StorePath) -> Result<Outcome, CliError> {
    args.about.check()?;
    if let Some(program) = args.command.first() {
        perf::check_command(program)?;
    }
    let is_new = !place.folder.join(Store::FILE_NAME).exists();
    if let Some(pid) = args.pid {
        perf::check_process(pid)?;
    }
    // A store that cannot be written is told before anything runs; nobody waits for it meanwhile.
    Store::open_or_create(&place.folder)?.check_writable()?;
    let perf = Perf::new()?;
    let work = WorkFolder::make()?;
    match perf::check(&work.path) {
        _ if perf.is_interrupted() => return Ok(Outcome::Interrupted),
        checked => checked?,
    }

    let mut recordings = Vec::new();
    let outcome = args.record_runs(&perf, &work.path, place, &mut recordings);
    if !recordings.is_empty() {
        place.tell_if_new(is_new);
        let summary = IngestSummary::new(place.folder.display().to_string(), recordings);
        ui::tell(&render::ingest::text(&summary, Style::default()));
    }
    outcome
}

impl RecordArgs {
    fn record_runs(
        &self,
        perf: &Perf,
        work: &Path,
        place: &StorePath,
        recordings: &mut Vec<RecordingReport>,
    ) -> Result<Outcome, CliError> {
        let runs = self.runs;
        let plan = perf::Recording {
            frequency: self.frequency,
            call_graph: self.call_graph,
            pid: self.pid,
            command: &self.command,
        };
        let mut input = Input::here();
        for run in 1..=runs {
            if let Some(input) = &mut input {
                input.rewind();
            }
            let folder = match &self.keep {
                Some(keep) => keep.join(run.to_string()),
                None => work.join(run.to_string()),
            };
            fs::create_dir_all(&folder).map_err(|source| CliError::WriteFile {
                path: folder.clone(),
                source,
            })?;
            let file = folder.join("perf.data");
            let status = perf.record(&plan, &file)?;
            if perf.is_interrupted() && runs > 1 {
                // Half a run is none to compare by.
                ui::say(
                    "note",
                    &format!("run {run} was interrupted, and is not stored"),
                );
                return Ok(Outcome::Interrupted);
            }
            let name = match runs {
                1 => "this recording".to_owned(),
                _ => format!("run {run} of {runs}"),
            };
            let report = match self.ingest(&file, status, place) {
                Err(CliError::Ingest(IngestError::Format(FormatError::NoSamples { .. })))
                    if !status.success() =>
                {
                    ui::say(
                        "warning",
                        &format!("{name}: not stored, as it has no samples"),
                    );
                    return Ok(self.outcome(perf, status));
                }
                report => report?,
            };
            for warning in &report.warnings {
                ui::say("warning", &format!("{name}: {warning}"));
            }
            if self.keep.is_some() {
                keep_symbols(&report, &folder)?;
            } else {
                // A folder that stays is removed with the one that it is in.
                let _ = fs::remove_dir_all(&folder);
            }
            recordings.push(RecordingReport::new(name, &report));
            let outcome = self.outcome(perf, status);
            if outcome != Outcome::Clean {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Clean)
    }

    /// How a recording that was made ended.
    fn outcome(&self, perf: &Perf, status: ExitStatus) -> Outcome {
        match self.pid {
            // It is the user or the command who ends the recording of a process.
            Some(_) => Outcome::Clean,
            None if perf.is_interrupted() => Outcome::Interrupted,
            None if status.success() => Outcome::Clean,
            None => Outcome::Command(status),
        }
    }

    fn ingest(
        &self,
        file: &Path,
        status: ExitStatus,
        place: &StorePath,
    ) -> Result<IngestReport, CliError> {
        if let Some(pid) = self.pid {
            copy_perf_map(pid, file);
        }
        let mut options = IngestOptions {
            symbols: environment::symbol_options(&[], file),
            ..self.about.options()
        };
        if self.pid.is_none() {
            let metrics = &mut options.metrics;
            let exit_status = f64::from(status_of(status));
            metrics
                .entry("exit_status".to_owned())
                .or_insert(exit_status);
            if let Some(time) = run_time(file) {
                let seconds = time.0 as f64 / 1e9;
                metrics.entry("seconds".to_owned()).or_insert(seconds);
            }
        }
        let store = Store::open_or_create(&place.folder)?;
        let progress = Progress::new(file);
        let report = ingest(&store, file, &options, &mut |stage| progress.stage(stage));
        drop(progress);
        report.map_err(|error| match error {
            IngestError::Format(
                FormatError::Io { .. } | FormatError::Empty { .. } | FormatError::Malformed { .. },
            ) if !status.success() => CliError::NothingRecorded {
                status: status_of(status),
            },
            IngestError::Format(FormatError::NoSamples { .. }) if status.success() => {
                CliError::NoSamples
            }
            error => error.into(),
        })
    }
}

/// Copies the perf map of a process that runs: it may have been written long before the recording.
fn copy_perf_map(pid: u32, file: &Path) {
    let name = format!("perf-{pid}.map");
    // Through the process, which may have a `/tmp` of its own. Most processes have no map.
    let map = PathBuf::from(format!("/proc/{pid}/root/tmp")).join(&name);
    let _ = fs::copy(map, file.with_file_name(name));
}

/// Copies what told of code that was made at run time beside the recording; what perf's own cache
/// has (programs, libraries, the kernel's symbols) is found there by build id.
fn keep_symbols(report: &IngestReport, folder: &Path) -> Result<(), CliError> {
    let files = report.modules.iter();
    for file in files.filter_map(|(_, symbols)| symbols.file.as_deref()) {
        let name = file.file_name().unwrap_or_default();
        let target = folder.join(name);
        let text = name.to_string_lossy();
        if (text.ends_with(".map") || text.ends_with(".dump")) && !target.exists() {
            fs::copy(file, &target).map_err(|source| CliError::WriteFile {
                path: target,
                source,
            })?;
        }
    }
    Ok(())
}

/// Standard input that is a file: every run is to read the same.
struct Input {
    file: File,
    start: u64,
}

impl Input {
    fn here() -> Option<Input> {
        let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
        let start = file.stream_position().ok()?;
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        is_file.then_some(Input { file, start })
    }

    fn rewind(&mut self) {
        // It told its place, so that it can be put there.
        let _ = self.file.seek(SeekFrom::Start(self.start));
    }
}

/// A folder of this process, which goes with it.
struct WorkFolder {
    path: PathBuf,
    /// Locked for as long as this process lives, however it ends.
    _alive: File,
}

impl WorkFolder {
    const PREFIX: &str = "sto-record-";

    fn make() -> Result<WorkFolder, CliError> {
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        let path = parent.join(format!("{}{}", Self::PREFIX, std::process::id()));
        let made = make_locked(&path);
        let _alive = made.map_err(|source| CliError::WriteFile {
            path: path.clone(),
            source,
        })?;
        Ok(WorkFolder { path, _alive })
    }
}

fn make_locked(path: &Path) -> io::Result<File> {
    // Copies of stacks hold whatever the program had there.
    fs::DirBuilder::new().mode(0o700).create(path)?;
    let folder = File::open(path)?;
    // Where folders cannot be locked, nobody takes this one for abandoned either.
    let _ = folder.lock();
    Ok(folder)
}

/// Removes the folders of processes that were killed: recordings are large.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(WorkFolder::PREFIX));
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        // It may have just made its folder; in another container, its number is nobody's here.
        let is_alive =
            pid != std::process::id() && Path::new("/proc").join(pid.to_string()).exists();
        let is_free = || File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
        if !is_alive && is_free() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever clears the folder of temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}
