//! Traces converted by other tools, compared with the originals.

use super::testdata;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use sto_core::formats::{FormatError, ReadOptions, Salvage, read, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::{Format, Recording};
use sto_core::stages::symbolize;
use sto_core::trace::{CallRecord, CallThresholds, Threshold};
use sto_core::units::Nanoseconds;

/// A call with the names of its callers, outermost first, its start and its end.
type Called = (Vec<String>, u64, u64);

/// By thread, in order of start.
type Calls = BTreeMap<u32, Vec<Called>>;

/// Reads a trace in which every call that takes time is an outlier.
fn recording(name: &str) -> (Recording, SymbolOptions) {
    let none = Threshold::Time(Nanoseconds(0));
    let path = testdata(name);
    let options = ReadOptions {
        symbols: SymbolOptions {
            recording_dir: path.parent().map(Into::into),
            ..SymbolOptions::default()
        },
        call_thresholds: CallThresholds {
            call_duration: none,
            call_gap: none,
            total_time: none,
        },
        ..ReadOptions::default()
    };
    (read(&path, &options).unwrap(), options.symbols)
}

/// The calls of a trace, with names without parameters.
fn calls(name: &str) -> Calls {
    let (recording, symbols) = recording(name);
    let symbols = symbolize(&recording, &symbols);
    let names = |stack| {
        let lines = recording.stacks.get(stack);
        let names = lines
            .iter()
            .flat_map(|&location| symbols.code_lines(location));
        let names = names.map(|line| {
            let frame = symbols.frames.frame(symbols.lines[line.0 as usize].frame);
            frame.symbol.split('(').next().unwrap().to_owned()
        });
        names.collect::<Vec<String>>()
    };
    let mut calls = Calls::new();
    for thread in &recording.calls.as_ref().unwrap().threads {
        let of_thread = calls.entry(thread.thread.tid).or_default();
        for record in &thread.records {
            match record {
                CallRecord::Call(call) => {
                    of_thread.push((names(call.stack), call.begin.0, call.end.0))
                }
                CallRecord::Expression(expression) => {
                    assert_eq!(expression.begin, expression.end, "calls of no time");
                    for stack in &expression.stacks {
                        let call = (names(stack.stack), expression.begin.0, expression.end.0);
                        of_thread.extend((0..stack.calls).map(|_| call.clone()));
                    }
                }
            }
        }
        // Callers before callees.
        of_thread.sort_by_key(|(names, begin, _)| (*begin, names.len()));
    }
    calls
}

#[test]
fn xray_yaml_has_the_calls_of_the_log() {
    for (log, yaml) in [
        ("basic.xray", "basic.yaml"),
        ("basic.xray", "numbers.yaml"),
        ("fdr.xray", "fdr.yaml"),
        ("fdr-small.xray", "fdr-small.yaml"),
    ] {
        let [log, yaml] = [log, yaml].map(|name| format!("xray/{name}"));
        let of = [&log, &yaml].map(|name| recording(name).0);
        assert_eq!(of[1].format, Format::XRayYaml);
        assert_eq!(of[0].warnings, of[1].warnings);
        assert_eq!(calls(&yaml), calls(&log), "{yaml}");
    }
}

fn read_yaml(text: &[u8], allow_truncated: bool) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        allow_truncated,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("log.yaml"), text, &options)
}

#[test]
fn rejects_truncated_xray_yaml_unless_allowed() {
    let whole = fs::read(testdata("xray/basic.yaml")).unwrap();
    let begin = whole.len() - 400;
    for end in begin..whole.len() - 1 {
        let cut = &whole[..end];
        let is_salvageable = match read_yaml(cut, false) {
            Err(FormatError::Truncated { salvage, .. }) => salvage == Salvage::Possible,
            Err(FormatError::Malformed { may_be_cut, .. }) => may_be_cut,
            // Only the last line end is missing.
            found => found.is_ok() && cut.ends_with(b"..."),
        };
        assert!(is_salvageable, "{end}");
        let recording = read_yaml(cut, true).unwrap();
        let is_truncation =
            |warning: &String| warning.starts_with("The file is cut off: it ends after line");
        assert!(
            recording.warnings.iter().any(is_truncation),
            "{:?}",
            recording.warnings
        );
    }
}

#[test]
fn ignores_payloads_of_xray_records_in_any_style() {
    let record = |kind: &str, time: u32, data: &str| {
        format!(
            "  - {{ type: 0, func-id: 1, function: work, cpu: 0, thread: 2, kind: {kind}, tsc: {time}, data: {data} }}\n"
        )
    };
    let text = [
        "---\nheader:\n  version: 5\n  type: 1\n  cycle-frequency: 2000000000\nrecords:\n",
        &record("function-enter", 100, "''"),
        &record(
            "custom-event",
            110,
            "'it''s\n  - { type: 0, kind: nothing, data: ''\n\n...\n'",
        ),
        &record("typed-event", 120, "\"\\\"\\x01\n\\n\""),
        &record("function-exit", 300, "a, b"),
        "...\n",
    ];
    let recording = read_yaml(text.concat().as_bytes(), false).unwrap();
    let threads = &recording.calls.as_ref().unwrap().threads;
    assert_eq!((threads[0].thread.pid, threads[0].thread.tid), (0, 2));
    assert_eq!(
        (threads[0].begin.0, threads[0].end.0, threads[0].calls),
        (50, 150, 1)
    );
}

#[test]
fn reports_errors_in_xray_yaml_with_the_line() {
    let header = "---\nheader:\n  cycle-frequency: 1000000000\n";
    let record = "  - { func-id: 1, function: a, kind: function-enter, tsc: 1 }\n";
    for (text, at, problem) in [
        (
            format!("{header}records:\n{record}  - what\n...\n"),
            "line 6",
            "expected a record on one line",
        ),
        (
            format!("{header}records:\n...\n{record}"),
            "line 6",
            "expected nothing after `...`",
        ),
        (
            format!("{header}  cycle-frequency: 7\nrecords:\n"),
            "line 4",
            "found `7`",
        ),
    ] {
        let error = read_yaml(text.as_bytes(), false).unwrap_err().to_string();
        let expected = format!("log.yaml: {at}: ");
        assert!(
            error.starts_with(&expected) && error.contains(problem),
            "{error}"
        );
    }
}

#[test]
fn xray_trace_events_have_the_calls_of_the_log_with_coarser_times() {
    let log = since_first(calls("xray/basic.xray"));
    let events = since_first(calls("xray/basic.json"));
    assert!(log.keys().eq(events.keys()));
    for (thread, log) in &log {
        let events = &events[thread];
        assert_eq!(log.len(), events.len());
        for (log, event) in log.iter().zip(events) {
            assert_eq!(log.0, event.0);
            // LLVM computes with doubles, which have a resolution of 256 for nanoseconds since 1970, and 0.25 for
            // microseconds.
            assert!(log.1.abs_diff(event.1) <= 512, "{log:?} {event:?}");
            assert!(log.2.abs_diff(event.2) <= 512, "{log:?} {event:?}");
        }
    }
}

/// Makes times relative to the first call.
fn since_first(mut calls: Calls) -> Calls {
    let all = calls.values().flatten();
    let zero = all.map(|&(_, begin, _)| begin).min().unwrap();
    for (_, begin, end) in calls.values_mut().flatten() {
        *begin -= zero;
        *end -= zero;
    }
    calls
}

#[test]
fn uftrace_chrome_dump_has_the_calls_of_the_folder_except_unfinished_ones() {
    let without = |calls: Calls| -> Calls {
        let is_ended = |name: &String| !["deep", "longjmp", "execl"].contains(&name.as_str());
        let of_thread = |calls: Vec<Called>| {
            let calls = calls
                .into_iter()
                .filter(|(names, ..)| is_ended(&names[names.len() - 1]));
            calls
                .map(|(names, begin, end)| {
                    (names.into_iter().filter(is_ended).collect(), begin, end)
                })
                .collect()
        };
        let threads = calls.into_iter();
        threads
            .map(|(thread, calls)| (thread, of_thread(calls)))
            .collect()
    };
    let folder = calls("uftrace/calls.data");
    let dump = calls("uftrace/calls.json");
    assert_eq!(folder.keys().collect::<Vec<_>>(), [&5227, &5233, &5234]);
    assert_eq!(without(since_first(folder)), without(since_first(dump)));
}
