//! Options and commands for the libraries' hints.

use sto_core::{Hint, Notice};
use sto_query::text::Words;

/// The names that this command uses for hints and options.
pub(crate) const WORDS: Words = Words {
    hint: |hint| words(hint)[1],
    option: "--",
};

/// The notice, with the option or command for its hint.
pub(crate) fn notice_text(notice: &Notice) -> String {
    with_hint(&notice.text, notice.hint)
}

/// Like [`notice_text`], about a profile that is stored now.
pub(crate) fn stored_notice_text(notice: &Notice) -> String {
    with_stored_hint(&notice.text, notice.hint)
}

/// Like [`with_hint`], about a profile that is stored now.
pub(crate) fn with_stored_hint(text: &str, hint: Option<Hint>) -> String {
    match hint {
        Some(Hint::SymbolFolder) => format!("{text} with `sto symbolize --symbol-dir`"),
        _ => with_hint(text, hint),
    }
}

/// The text, with the option or command for its hint.
pub(crate) fn with_hint(text: &str, hint: Option<Hint>) -> String {
    let words = hint.map_or(String::new(), |hint| words(hint).concat());
    match text.strip_suffix('.') {
        Some(sentence) => format!("{sentence}{words}."),
        None => format!("{text}{words}"),
    }
}

/// The option or command, with the text before and after it.
fn words(hint: Hint) -> [&'static str; 3] {
    match hint {
        Hint::AllowTruncated => [": `", "sto ingest --allow-truncated", "`"],
        Hint::NameFormat => [
            ": `",
            "sto ingest --format NAME",
            "`; `sto ingest --help` lists them",
        ],
        Hint::TraceStart => [" with ", "--trace-start T", ""],
        Hint::RaiseMaxInput => [" by ", "--max-input", ""],
        Hint::NameBuild => [": ", "--build NAME", ""],
        Hint::OtherStore => [": ", "--store DIR", ""],
        Hint::MakeStore => ["; `", "sto ingest", "` makes one"],
        Hint::KeepSlices => ["; ", "--slices 1", " keeps them"],
        Hint::SliceTime => [
            "; name its file, or store it with `",
            "sto ingest --slices 1000",
            "`, after `sto prune` if it is stored without slices",
        ],
        Hint::KeepCalls => ["; `", "sto ingest --keep-calls", "` keeps every one"],
        Hint::WholeTime => [
            "; ingest it without --slices, or with ",
            "--slices 1",
            ", which leaves it whole",
        ],
        Hint::SymbolFolder => [" with ", "--symbol-dir", ""],
        Hint::Symbolize => ["; `", "sto symbolize", "` finds them"],
        Hint::AddProfile => ["; `", "sto ingest FILE", "` adds one"],
        Hint::ListBuilds => ["; `", "sto ls", "` shows their ids"],
        Hint::ListPhases => ["; `", "sto phases", "` has their times"],
        Hint::ListRuns => ["; `", "sto runs", "` lists them all"],
        Hint::NameProgram => ["; name one with ", "--exe", ""],
        Hint::NameBenchmark => ["; name one with ", "--benchmark", ""],
        Hint::AttachMetric => [
            "; `",
            "sto ingest --metric NAME=NUMBER",
            "` or `sto annotate` attaches one",
        ],
        Hint::Check => ["; see `", "sto find-regressions", "`"],
        Hint::CheckInFull => ["; see `", "sto find-regressions --verbose", "`"],
        Hint::Compact => ["; see `", "sto compact", "`"],
        Hint::CountInlined => ["; ", "--inlined", " counts them separately"],
        Hint::ExplainMatch => ["; see `", "sto explain-match", "`"],
        Hint::Json => ["; ", "--format json", " has all"],
        Hint::JsonReport => ["; ", "--report json", " has all"],
        Hint::PerRun => ["; ", "--per-run", " decides"],
        Hint::RemoveRun => ["; `", "sto prune ID", "` removes one"],
        Hint::SetTag => ["; `", "sto tag BUILD NAME", "` sets one"],
        Hint::ShowAll => ["; ", "--verbose", " shows all"],
        Hint::SourceFolder => [" with ", "--source-dir", ""],
        Hint::TopInlined => ["; see `", "sto top --inlined", "`"],
        Hint::UnequalWork => ["; ", "--unequal-work", " decides"],
        // This command has no option for other hints.
        _ => [""; 3],
    }
}
