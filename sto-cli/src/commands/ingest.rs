//! `sto ingest`: stores profile files.

use crate::args::calls::CallArgs;
use crate::args::inputs::{self, Input};
use crate::args::quantities::{bytes, slice_count, time_offset};
use crate::args::{About, SymbolArgs, choice, word};
use crate::runtime::destination::Destination;
use crate::runtime::in_order::in_order;
use crate::runtime::{CliError, Outcome, Progress, StorePath, environment, hints, output};
use clap::Args;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use sto_core::formats::{self, Format, FormatError, UnknownFormat};
use sto_core::ingest::{
    IngestError, IngestOptions, PreparedFile, Stage, StageTime, SymbolOptions, Timings, prepare,
};
use sto_core::model::Granularity;
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, TimeOffset, UnixSeconds};
use sto_query::render;
use sto_query::results::IngestedFile;

const EXAMPLES: &str = "\
Examples:
  sto ingest perf.data                       Name the build after its GNU build id
  sto ingest perf.data --build v1 --benchmark startup --label cpu=7950x --metric seconds=1.83
  sto ingest run*.data --build v1            Store several runs of one build
  sto ingest recordings/ --build v1          Store every profile in a folder
  sto ingest perf.data --trace stat.csv      Store metrics over time with the run
  perf script | sto ingest - --build v1      Read from standard input
  sto ingest perf.data --to s3://bucket/lake Add to a dataset of Parquet files";

/// Store recordings as runs of a build
///
/// Reads perf.data, JDK Flight Recorder recordings, pprof, OTLP, Callgrind output, the output of `perf
/// script`, folded stacks, files for the Firefox Profiler, speedscope and Chrome, and reports of other
/// profilers (`--format` lists all). A file that is already stored is not stored again. Files that perf wrote for one
/// recording (`--switch-output`) are one run if they are given together.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IngestArgs {
    /// Read these files, and all profiles in these folders; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Add to this dataset of Parquet files, as written by `sto export --format parquet`, or to the store of this server,
    /// `https://HOST[:PORT]`, instead of a store. `sto push --help` tells about tokens
    #[arg(long, value_name = "DEST")]
    to: Option<PathBuf>,

    #[command(flatten)]
    about: About,

    /// Store this day or time in UTC (2026-03-01, 2026-03-01T12:30) as that of the recording; by default as the file
    /// tells
    #[arg(long, value_name = "DATE")]
    recorded: Option<UnixSeconds>,

    /// Choose what one frame of a stack is
    #[arg(long, default_value = "function", value_parser = choice::<Granularity>([
        word("function", "A function; the cost of each line is stored next to the stacks"),
        word("line", "A function at a line"),
    ]))]
    granularity: Granularity,

    /// Store one profile per program, instead of one for the whole recording
    #[arg(long, conflicts_with = "exe")]
    split_processes: bool,

    /// Also keep what each thread did in each of N equal parts of the recording's time, and labels of
    /// samples; 1 needs no time stamps
    #[arg(long, value_name = "N", value_parser = slice_count)]
    slices: Option<SliceCount>,

    /// Also store the metrics over time in this file: CSV or JSON lines of time, name, value; CSV with one
    /// column per metric; or the output of `perf stat -I 10 -x,`; may be given several times
    #[arg(long = "trace", value_name = "FILE")]
    traces: Vec<PathBuf>,

    /// Set the time in the run that is 0 in the traces (1.5s, -200ms); by default they have the recording's clock,
    /// or begin with it
    #[arg(long, value_name = "T", value_parser = time_offset, requires = "traces", allow_hyphen_values = true)]
    trace_start: Option<TimeOffset>,

    #[command(flatten)]
    symbols: SymbolArgs,

    #[arg(long, value_name = "FORMAT", value_parser = format, help = format_help())]
    format: Option<Format>,

    /// Store the readable part of a file that was cut off
    #[arg(long)]
    allow_truncated: bool,

    /// Let a compressed file expand to SIZE (4GiB) [default: 64 MiB and 256 times its size], and read up to SIZE
    /// from a pipe if the format is held in memory [default: 2 GiB]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_input: Option<Bytes>,

    /// Refuse a profile if more than 20 % of its samples have no symbol, no stack or a truncated one, or if
    /// more than 5 % were lost
    #[arg(long)]
    strict: bool,

    /// Write the report in this format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    report: output::Format,

    /// Print the time of each stage, for one file at a time
    #[arg(long, hide = true)]
    timings: bool,

    #[command(flatten)]
    calls: CallArgs,

    /// Also keep every call of a trace, to zoom in and to compress them with other thresholds later
    #[arg(long, help_heading = "Traces of calls")]
    keep_calls: bool,
}

pub(crate) fn run(args: &IngestArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    args.about.check()?;
    let inputs = inputs::expand(&args.paths)?;
    if !args.traces.is_empty() && inputs.len() != 1 {
        return Err(CliError::TraceOfSeveral {
            recordings: inputs.len(),
        });
    }
    let to = Destination::open(args.to.as_deref(), store_path)?;
    let options = args.options()?;
    let progress = Progress::for_files(inputs.iter().map(|input| &*input.path));
    let mut recordings = Vec::new();
    let mut done = 0;
    // Each file is held in memory, and a large one uses every core by itself.
    let threads = if args.timings {
        1
    } else {
        rayon::current_num_threads()
    };
    let work = |input: &Input| args.prepare(input, &options, &progress);
    let outcome = in_order(&inputs, threads, work, |input, prepared| {
        let name = input.name();
        done += 1;
        let prepared = match prepared {
            Err(IngestError::Format(error)) if input.is_found && is_no_profile(&error) => {
                let note = format!("{name}: skipped, as it is not a profile");
                progress.print_message("note", &note);
                progress.files_done(done);
                return Ok(());
            }
            prepared => prepared?,
        };
        let report = to.add(prepared, &mut |stage| progress.stage(stage))?;
        let file = IngestedFile::new(name, &report, hints::stored_notice_text);
        for warning in &file.warnings {
            progress.print_message("warning", &format!("{}: {warning}", file.path));
        }
        recordings.push(file);
        progress.files_done(done);
        Ok(())
    });
    drop(progress);
    let outcome = outcome.and_then(|()| match recordings[..] {
        // A named file that is not a profile has already failed.
        [] => {
            let folders = args.paths.iter().map(|path| path.display().to_string());
            Err(CliError::NoProfiles {
                folders: folders.collect(),
            })
        }
        _ => Ok(()),
    });
    if args.timings {
        eprint!("{}", timings_table(&options.timings.stages()));
    }
    // Report the files that were stored before a failure.
    let shown = match recordings[..] {
        [] => Ok(()),
        _ => args
            .report
            .print(&to.summary(recordings), render::ingest::text),
    };
    outcome.and(shown)?;
    Ok(Outcome::Clean)
}

/// Whether a file that was found in a folder may be skipped.
pub(super) fn is_no_profile(error: &FormatError) -> bool {
    matches!(
        error,
        FormatError::Unknown { .. } | FormatError::Empty { .. }
    )
}

impl IngestArgs {
    fn prepare(
        &self,
        input: &Input,
        options: &IngestOptions,
        progress: &Progress,
    ) -> Result<PreparedFile, IngestError> {
        let options = IngestOptions {
            symbols: SymbolOptions {
                granularity: self.granularity,
                debuginfod: options.symbols.debuginfod.clone(),
                ..environment::symbol_options(&self.symbols.files, &input.path)
            },
            call_folder: Some(std::env::temp_dir()),
            on_read: progress.on_read(),
            ..options.clone()
        };
        let mut show = |stage| progress.stage(stage);
        if !input.more.is_empty() {
            progress.stage(Stage::Reading);
            let recording = formats::read_pieces(&input.pieces(), &options.read_options())?;
            return prepare((&input.path, recording), &options, &mut show);
        }
        if !input.is_stdin() {
            return prepare(&input.path, &options, &mut show);
        }
        progress.stage(Stage::Reading);
        let name = input.name();
        let recording =
            formats::read_stream(name.as_ref(), io::stdin().lock(), &options.read_options())?;
        prepare((&input.path, recording), &options, &mut show)
    }

    fn options(&self) -> Result<IngestOptions, CliError> {
        Ok(IngestOptions {
            recorded: self.recorded,
            split_processes: self.split_processes,
            slices: self.slices,
            traces: self.traces.clone(),
            trace_start: self.trace_start,
            call_thresholds: self.calls.thresholds(),
            keep_calls: self.keep_calls,
            format: self.format,
            allow_truncated: self.allow_truncated,
            max_input: self.max_input,
            strict: self.strict,
            symbols: SymbolOptions {
                debuginfod: self.symbols.debuginfod()?,
                ..SymbolOptions::default()
            },
            timings: if self.timings {
                Timings::on()
            } else {
                Timings::default()
            },
            ..self.about.options()
        })
    }
}

/// A table of the time of each stage, with parts of a stage indented below it.
fn timings_table(stages: &BTreeMap<Stage, StageTime>) -> String {
    let mut table = format!("{:<14}{:>10}{:>14}\n", "stage", "wall (s)", "processor (s)");
    for (stage, time) in stages {
        let indent = if stage.whole().is_some() { "  " } else { "" };
        let name = format!("{indent}{stage:?}").to_lowercase();
        let [wall, processor] = [time.wall, time.processor].map(|time| time.as_secs_f64());
        table += &format!("{name:<14}{wall:>10.3}{processor:>14.3}\n");
    }
    table
}

fn format_help() -> String {
    let words: Vec<String> = Format::all().map(Format::word).collect();
    let words = words.join(", ");
    format!(
        "Read the files as this format; by default they are recognized by their content [possible values: {words}]"
    )
}

fn format(word: &str) -> Result<Format, String> {
    word.parse().map_err(|error: UnknownFormat| match word {
        "text" | "json" => format!("{error}; for the format of the report, use `--report {word}`"),
        _ => error.to_string(),
    })
}
