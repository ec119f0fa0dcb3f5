//! Hints for the user about errors.

use super::{CliError, MORE_MEMORY};
use sto_query::QueryError;
use sto_query::error::{
    CompareError, CorrelateError, FunctionError, HistoryError, MergeError, RootsError, SourceError,
    TagError,
};
use sto_query::places::PlaceError;
use sto_query::tables::SqlError;
use sto_query::text::printable;

impl CliError {
    /// A hint for the user, in addition to the library's hint.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            CliError::WithoutDebuginfod => Some(build_with("debuginfod")),
            CliError::Place(PlaceError::LeftOut { .. }) => Some(build_with("cloud")),
            CliError::DamagedStore { .. } => Some(
                "restore a backup; without one, merge the readable profiles into a new \
                 store, and ingest the remaining recordings again"
                    .to_owned(),
            ),
            CliError::Merge(MergeError { added, .. }) if *added > 0 => Some(format!(
                "profiles added before the failure: {added}; merging again adds the rest"
            )),
            CliError::Git(error) => error.hint().map(str::to_owned),
            CliError::NoPerf => Some(
                "install it: `apt install linux-perf` on Debian, `apt install linux-tools-generic` \
                 on Ubuntu, `dnf install perf` on Fedora"
                    .to_owned(),
            ),
            CliError::PerfRefused { .. } => Some(
                "if the kernel denies it: `sudo sysctl kernel.perf_event_paranoid=1`, or \
                 record as root; in a container, allow perf_event_open too (--cap-add PERFMON \
                 --security-opt seccomp=unconfined)"
                    .to_owned(),
            ),
            CliError::NothingRecorded { .. } => Some(
                "see the messages of perf above; if there are none, `perf record -v` shows more"
                    .to_owned(),
            ),
            CliError::NotExecutable { command } => {
                Some(format!("make it executable with `chmod +x {}`", printable(command)))
            }
            CliError::NotInPath { command } => Some(format!(
                "to run the file of that name in this folder, write ./{}",
                printable(command)
            )),
            CliError::CommandLine { .. } => {
                Some("it needs a program, and every quote must be closed".to_owned())
            }
            CliError::NoPlace { place, .. } => Some(format!(
                "write {place} where the command takes the value, as in `./sort {place}`"
            )),
            CliError::NoEvent { .. } => Some("`perf list` names all events".to_owned()),
            CliError::NoRoom { .. } => Some(
                "free some space there, or use another folder: TMPDIR=DIR, or --keep DIR to keep the \
                 recordings"
                    .to_owned(),
            ),
            CliError::NoSamples => {
                Some("let the program run longer, or sample more often, as with -F 9997".to_owned())
            }
            CliError::ProcessRefused { .. } => Some("record as its user, or as root".to_owned()),
            CliError::NoBrowser { .. } => Some(
                "name one in $BROWSER, or open the file elsewhere: it is self-contained".to_owned(),
            ),
            CliError::OtherUsers { what, option, .. } => Some(format!(
                "its owner could control what this command reports; if you trust them, name the {what}: {option}"
            )),
            CliError::Correlate { source: CorrelateError::NoPattern, .. } => {
                Some("name its points: --pattern T:VALUE,T:VALUE,...".to_owned())
            }
            CliError::PartOfDataset => {
                Some("leave out the event, the benchmark, the time window and --x, and filter when you query the dataset".to_owned())
            }
            CliError::DatasetToStdout => {
                Some("name a folder, or s3://, gs://, az:// or ssh:// (./- means a folder named `-`)".to_owned())
            }
            CliError::XWithoutModels => {
                Some("leave it out, or export with `--format perun`".to_owned())
            }
            CliError::UnknownDotCommand(_) => Some("`.help` lists them".to_owned()),
            CliError::UnknownTable(_) => Some("`.schema` lists all".to_owned()),
            CliError::UnknownExample(_) => Some("`sto sql --examples` lists them".to_owned()),
            CliError::NoStorePath => Some("name one: --store PATH".to_owned()),
            CliError::BinaryOnTerminal => Some("write it to a file: -o FILE".to_owned()),
            CliError::Panicked { .. } => Some(
                "`sto verify` shows whether the store is damaged; if it is not, this is a bug in sto"
                    .to_owned(),
            ),
            CliError::DrawingOnTerminal => Some("write it to a file: -o FILE.svg".to_owned()),
            CliError::Query(error) => query_hint(error),
            CliError::Sql(error) => sql_hint(error),
            _ => None,
        }
    }
}

fn query_hint(error: &QueryError) -> Option<String> {
    match error {
        QueryError::NothingNamed { selector, .. } => {
            Some(format!("there is no file `{selector}` either"))
        }
        QueryError::WithoutParquet => Some(build_with("lake")),
        QueryError::NoRevision { .. } => {
            Some("revisions are looked up in the git repository of the working directory".to_owned())
        }
        QueryError::UnknownEvent { known, .. } => {
            Some(format!("it was recorded with {}", known.join(", ")))
        }
        QueryError::Roots(RootsError::NoThreads { .. }) => Some(
            "threads are only stored with --slices: name the recording itself instead of the build, \
             or ingest it with --slices 1 into a store that does not have it yet"
                .to_owned(),
        ),
        QueryError::Roots(RootsError::NoLabel { known, .. }) if known.is_empty() => Some(
            "`sto ingest --label KEY=VALUE` adds labels to a profile; labels of samples are stored \
             with --slices 1"
                .to_owned(),
        ),
        QueryError::Roots(RootsError::NoLabel { known, .. }) => {
            const SHOWN: usize = 10;
            let shown: Vec<_> = known.iter().take(SHOWN).map(|key| printable(key)).collect();
            let more = match known.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Some(format!("there are labels {}{more}", shown.join(", ")))
        }
        QueryError::Compare(CompareError::Metric { metric, first, .. }) => {
            // The name becomes part of a command to paste.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            let name = if metric.chars().all(is_plain) {
                metric
            } else {
                "METRIC"
            };
            Some(format!(
                "add it to each of them: `printf 'profile,{name}\\n{:.12},NUMBER\\n' | sto annotate -`; \
                 --force replaces existing values",
                first.to_string()
            ))
        }
        QueryError::OtherMetric { .. } => {
            Some("nothing was changed; --force replaces the existing values".to_owned())
        }
        QueryError::NoBaseline => Some(
            "name a build before the candidate, or a tag with --baseline TAG, or write \
             `baseline = \"TAG\"` into sto.toml"
                .to_owned(),
        ),
        QueryError::Tag(error) => match error {
            TagError::OneRun { build, .. } => Some(format!("write {build}")),
            TagError::Taken { .. } => Some("--force moves it".to_owned()),
            TagError::NotFound { .. } => Some("`sto tag` lists them all".to_owned()),
            TagError::Several { .. } => Some("write EXE@TAG".to_owned()),
            _ => None,
        },
        QueryError::Function(FunctionError::Several { text, .. })
        | QueryError::History(HistoryError::Function(FunctionError::Several { text, .. })) => Some(
            format!("write more of the name; `re:{text}` selects all of them"),
        ),
        QueryError::Source(SourceError::Function(_)) => Some("write more of the name".to_owned()),
        _ => None,
    }
}

fn sql_hint(error: &SqlError) -> Option<String> {
    match error {
        SqlError::MissingParameter(name) => {
            let name = name.trim_start_matches([':', '@', '$']);
            Some(format!("set it with --param {}=VALUE", printable(name)))
        }
        SqlError::Syntax { .. } => {
            Some("`sto sql .schema` lists tables, columns and functions".to_owned())
        }
        SqlError::OutOfMemory => Some(MORE_MEMORY.to_owned()),
        SqlError::Timeout(_) => Some("--timeout gives it more time".to_owned()),
        _ => None,
    }
}

/// How to build sto with a feature.
fn build_with(feature: &str) -> String {
    format!("build it with `cargo build --release --features full`, or `--features {feature}`")
}
