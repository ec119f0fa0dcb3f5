//! `sto ingest`: profile files into the store.

use crate::environment;
use crate::error::{CliError, Outcome};
use crate::output::FormatArg;
use crate::store_path::StorePath;
use crate::ui::{self, Progress};
use clap::{Args, ValueEnum};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model;
use sto_core::store::Store;
use sto_query::render;
use sto_query::report::{IngestSummary, RecordingReport};

const EXAMPLES: &str = "\
Examples:
  sto ingest perf.data                       Name the build after its GNU build id
  sto ingest perf.data --build v1 --benchmark startup --label cpu=7950x --metric seconds=1.83
  sto ingest run*.data --build v1            Store several runs of one build
  perf script | sto ingest - --build v1      Read from standard input";

/// Store recordings as runs of a build
///
/// Reads perf.data, the output of `perf script`, and folded stacks. The same file goes in once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IngestArgs {
    /// Read these files; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Name the build; by default after the main program's GNU build id
    #[arg(long, value_name = "NAME")]
    build: Option<String>,

    /// Name the executable; by default the program with most samples
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    /// Name the benchmark that ran
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,

    /// Attach a label; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,

    /// Attach a measured number (run time, throughput); may be given several times
    #[arg(long = "metric", value_name = "NAME=NUMBER", value_parser = metric)]
    metrics: Vec<(String, f64)>,

    /// Choose what a frame of a stack is
    #[arg(long, value_enum, default_value = "function")]
    granularity: Granularity,

    /// Store one profile a program, instead of one of the whole recording
    #[arg(long)]
    split_processes: bool,

    /// Look for files with symbols here first; may be given several times
    #[arg(long = "symbol-dir", value_name = "DIR")]
    symbol_dirs: Vec<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Granularity {
    /// A function; what each line cost is kept beside the stacks
    Function,
    /// A function at a line
    Line,
}

pub(crate) fn run(args: &IngestArgs, path: &StorePath) -> Result<Outcome, CliError> {
    let is_new = !path.folder.join(Store::FILE_NAME).exists();
    let store = Store::open_or_create(&path.folder)?;
    if is_new && path.is_default {
        let folder = path.folder.display();
        ui::say(
            "note",
            &format!("a new store is made in {folder}; --store names another place"),
        );
    }
    let mut options = args.options();
    let mut recordings = Vec::new();
    let outcome = args.paths.iter().try_for_each(|path| {
        let path = if path.as_os_str() == OsStr::new("-") {
            Path::new("/dev/stdin")
        } else {
            path
        };
        options.symbols = environment::symbol_options(&args.symbol_dirs, path);
        let progress = Progress::new(path);
        let report = ingest(&store, path, &options, &mut |stage| progress.stage(stage))?;
        drop(progress);
        for warning in &report.warnings {
            ui::say("warning", warning);
        }
        recordings.push(RecordingReport::new(path.display().to_string(), &report));
        Ok::<_, CliError>(())
    });
    // What went in before a failure is in the store, and the user is told.
    if outcome.is_ok() || !recordings.is_empty() {
        let summary = IngestSummary::new(path.folder.display().to_string(), recordings);
        args.format.print(&summary, render::ingest::text)?;
    }
    outcome.map(|()| Outcome::Clean)
}

impl IngestArgs {
    fn options(&self) -> IngestOptions {
        IngestOptions {
            executable: self.exe.clone(),
            version: self.build.clone(),
            revision: environment::revision(),
            benchmark: self.benchmark.clone(),
            labels: self.labels.iter().cloned().collect(),
            metrics: self.metrics.iter().cloned().collect(),
            granularity: match self.granularity {
                Granularity::Function => model::Granularity::Function,
                Granularity::Line => model::Granularity::Line,
            },
            split_processes: self.split_processes,
            ..IngestOptions::default()
        }
    }
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE"),
    }
}

fn metric(text: &str) -> Result<(String, f64), &'static str> {
    let (name, number) = label(text).map_err(|_| "expected NAME=NUMBER")?;
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name, number)),
        _ => Err("expected NAME=NUMBER, with a finite decimal number"),
    }
}
