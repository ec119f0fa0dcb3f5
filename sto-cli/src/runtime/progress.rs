//! Progress on the terminal for work that takes more than a second.

use crate::runtime::{memory, threads, ui};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use sto_core::formats::OnRead;
use sto_core::ingest::Stage;
use sto_query::text::printable;

/// A progress display: a bar with rate and remaining time if the amount of work is known, otherwise the
/// elapsed time.
pub(crate) struct Progress {
    bar: ProgressBar,
    name: String,
    /// Units of work of each file; empty for a single file, whose stages are shown.
    files: Vec<u64>,
    /// Size of a single file in bytes, if known.
    size: Option<u64>,
    begun: Instant,
    /// A thread that shows the display after a delay, unless the sender is dropped first.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Time without a display, because shorter work would end before the display could be read.
    const DELAY: Duration = Duration::from_secs(1);

    /// Shows the progress of reading a file.
    pub(crate) fn new(file: &Path) -> Progress {
        let mut progress = Progress::begin(Vec::new(), file);
        progress.size = size(file);
        progress
    }

    /// Shows the progress of reading files: by bytes, or by number of files if a size is unknown.
    pub(crate) fn for_files<'a>(files: impl Iterator<Item = &'a Path>) -> Progress {
        let files: Vec<&Path> = files.collect();
        if let [file] = files[..] {
            return Progress::new(file);
        }
        let sizes: Option<Vec<u64>> = files.iter().map(|file| size(file)).collect();
        let template = match sizes {
            Some(_) => "{wide_bar} {msg}, {bytes} of {total_bytes}, {bytes_per_sec}{left}",
            None => "{wide_bar} {msg}, {rate} files/s{left}",
        };
        let progress =
            Progress::begin(sizes.unwrap_or_else(|| vec![1; files.len()]), Path::new(""));
        progress.bar.set_length(progress.files.iter().sum());
        progress.bar.set_style(bar_style(template));
        progress.files_done(0);
        progress
    }

    /// Shows the progress of work on a store.
    pub(crate) fn for_store(doing: &str, path: &Path) -> Progress {
        let progress = Progress::begin(Vec::new(), path);
        progress
            .bar
            .set_message(format!("{doing} {}", progress.name));
        progress
    }

    /// Reports that the first `done` files are finished.
    pub(crate) fn files_done(&self, done: usize) {
        self.bar.set_position(self.files.iter().take(done).sum());
        self.bar
            .set_message(format!("{done} of {} files", self.files.len()));
        self.show_if_late();
    }

    /// Prints a line above the display.
    pub(crate) fn print_message(&self, kind: &str, message: &str) {
        self.bar.suspend(|| ui::print_message(kind, message));
    }

    fn begin(files: Vec<u64>, path: &Path) -> Progress {
        if files.is_empty() {
            memory::set_subject(path);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(spinner_style());
        let shown = bar.clone();
        let wait = move |ended: Receiver<()>| {
            if ended.recv_timeout(Self::DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                // Keep the display moving between reports.
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        };
        let is_seen = io::stderr().is_terminal() && !threads::are_scarce();
        let waiting = is_seen.then(|| {
            let (end, ended) = channel();
            let thread = thread::Builder::new().spawn(move || wait(ended)).ok()?;
            Some((end, thread))
        });
        Progress {
            bar,
            name: if path.as_os_str() == "-" {
                "standard input".to_owned()
            } else {
                printable(&path.display().to_string()).into_owned()
            },
            files,
            size: None,
            begun: Instant::now(),
            waiting: waiting.flatten(),
        }
    }

    /// Shows the display if the delay has passed and there is no thread that shows it.
    fn show_if_late(&self) {
        let is_late = self.begun.elapsed() >= Self::DELAY;
        if self.waiting.is_none() && is_late && self.bar.is_hidden() && io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Shows the stage of a single file; not shown for several, which are processed in parallel.
    pub(crate) fn stage(&self, stage: Stage) {
        let doing = match stage {
            Stage::Reading => "reading",
            Stage::Symbolizing => "looking up symbols of",
            Stage::Interning => "building the tree of",
            _ => "storing",
        };
        if self.files.is_empty() {
            self.bar.unset_length();
            self.bar.set_style(spinner_style());
            self.bar.set_message(format!("{doing} {}", self.name));
            self.show_if_late();
        }
    }

    /// Returns a callback by which the reader of a single file reports how much it has read.
    pub(crate) fn on_read(&self) -> OnRead {
        let Some(size) = self.size else {
            return OnRead::default();
        };
        let bar = self.bar.clone();
        OnRead::new(move |bytes| {
            if bar.length().is_none() {
                bar.set_style(bar_style(
                    "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}{left}",
                ));
                bar.set_length(size);
            }
            bar.inc(bytes);
            Ok(())
        })
    }

    /// Reports that `done` of the profiles are merged or need no merging.
    pub(crate) fn merged(&self, done: usize, profiles: usize) {
        if self.bar.length().is_none() {
            self.bar.set_style(bar_style(
                "{wide_bar} {msg}: {pos} of {len} profiles, {rate}/s{left}",
            ));
            self.bar.set_length(profiles as u64);
            // Profiles that need no merging do not count for the rate.
            self.bar.set_position(done as u64);
            self.bar.reset_eta();
        }
        self.bar.set_position(done as u64);
        self.show_if_late();
    }
}

/// The size of a regular file in bytes.
fn size(file: &Path) -> Option<u64> {
    let found = file.metadata().ok()?;
    found.is_file().then_some(found.len())
}

fn spinner_style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    style.expect("the template is well-formed")
}

fn bar_style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    let rate = |state: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = write!(to, "{:.1}", state.per_sec());
    };
    // The remaining time is unknown until something is done.
    let left = |state: &ProgressState, to: &mut dyn fmt::Write| {
        if state.per_sec() > 0.0 {
            let _ = write!(to, ", {:#} left", HumanDuration(state.eta()));
        }
    };
    style
        .with_key("rate", rate)
        .with_key("left", left)
        .progress_chars("=> ")
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.waiting.take() {
            drop(end);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
