//! Small files with expensive shapes: the work is in proportion to their size, or they are rejected.

use crate::common::error_of;
use std::fmt::Write;
use std::path::Path;
use sto_core::demangled;
use sto_core::formats::{Format, ReadOptions, read_bytes};
use sto_core::ingest::{IngestOptions, prepare};
use sto_core::limits::{MAX_NAME, MAX_PROGRAMS};
use sto_core::recording::Recording;
use sto_core::tree::total_cost;

const DEPTH: usize = 3_000;

fn read(format: Option<Format>, text: &str) -> Recording {
    let options = ReadOptions {
        format,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("a/file"), text.as_bytes(), &options).unwrap()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",")
}

fn cpuprofile(function: &str) -> String {
    let nodes = joined((1..=DEPTH).map(|id| {
        let child = match id {
            DEPTH => String::new(),
            _ => (id + 1).to_string(),
        };
        format!(r#"{{"id":{id},"callFrame":{{"functionName":"{function}"}},"children":[{child}]}}"#)
    }));
    let ids = joined((1..=DEPTH).map(|id| id.to_string()));
    let deltas = joined((0..DEPTH).map(|_| "1".to_owned()));
    format!(r#"{{"nodes":[{nodes}],"samples":[{ids}],"timeDeltas":[{deltas}],"startTime":0}}"#)
}

fn speedscope() -> String {
    let event = |kind, at| format!(r#"{{"type":"{kind}","frame":0,"at":{at}}}"#);
    let events = joined((0..2 * DEPTH).map(|at| event(if at < DEPTH { "O" } else { "C" }, at)));
    let end = 2 * DEPTH;
    format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"f"}}]}},"profiles":[{{"type":"evented","name":"","unit":"nanoseconds","startValue":0,"endValue":{end},"events":[{events}]}}]}}"#
    )
}

/// As many resources as frames on their stack.
fn perun() -> String {
    let frame = r#"{"source":"f.c","function":"f","line":1}"#;
    let trace = joined((0..DEPTH).map(|_| frame.to_owned()));
    let amounts = joined((0..DEPTH).map(|_| "1".to_owned()));
    format!(
        r#"{{"collector_info":{{"name":"memory"}},"resources":{{"f#0":{{"amount":[{amounts}]}}}},"resource_type_map":{{"f#0":{{"type":"memory","uid":{frame},"trace":[{trace}]}}}}}}"#
    )
}

fn complete(at: usize, took: usize) -> String {
    format!(r#"{{"ph":"X","name":"f","pid":1,"tid":1,"ts":{at},"dur":{took}}}"#)
}

fn chrome() -> String {
    let calls = (0..DEPTH).map(|at| complete(at, 3 * DEPTH - 2 * at));
    format!("[{}]", joined(calls))
}

fn callgrind() -> String {
    let mut text = "# callgrind format\nevents: Ir\n".to_owned();
    for caller in 0..DEPTH - 1 {
        let (callee, left) = (caller + 1, DEPTH - 1 - caller);
        writeln!(
            text,
            "fn=f{caller}\n1 1\ncfn=f{callee}\ncalls=1 1\n1 {left}"
        )
        .unwrap();
    }
    text + &format!("fn=f{}\n1 1\n", DEPTH - 1)
}

fn yourkit() -> String {
    let rows = (1..=DEPTH).map(|level| format!("\"f()\",\"9\",\"1\",\"{level}\"\n"));
    "\"Name\",\"Time (ms)\",\"Own Time (ms)\",\"Level\"\n".to_owned() + &rows.collect::<String>()
}

fn visual_studio() -> String {
    let columns = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time \
                   %,Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n";
    let rows = (0..DEPTH).map(|level| format!("{level},f,1,1.0,1.0,1.0,1.0,m,\n"));
    columns.to_owned() + &rows.collect::<String>()
}

/// A chain of calls with a sample of each: written out, its stacks would have a number of frames quadratic in its
/// length.
#[test]
fn chains_of_calls_take_linear_space() {
    let files = [
        (None, cpuprofile("f")),
        (None, speedscope()),
        (None, perun()),
        (None, chrome()),
        (None, callgrind()),
        (Some(Format::YourKit), yourkit()),
        (Some(Format::VisualStudio), visual_studio()),
    ];
    for (format, text) in files {
        let recording = read(format, &text);
        let name = recording.format.name();
        let stacks = &recording.stacks;
        let held: usize = stacks
            .iter()
            .map(|stack| stacks.own_locations(stack).len())
            .sum();
        assert!(held <= 2 * DEPTH, "{name}: {held} locations are held");
        let deepest = stacks.iter().map(|stack| stacks.depth(stack)).max();
        assert_eq!(deepest, Some(DEPTH), "{name}");
        let samples: u64 = recording
            .samples
            .iter()
            .map(|sample| sample.cost.value)
            .sum();
        let options = IngestOptions {
            executable: Some("f".to_owned()),
            version: Some("1".to_owned()),
            ..IngestOptions::default()
        };
        let path = Path::new("a/file");
        let prepared = prepare((path, recording), &options, &mut |_| {}).unwrap();
        let interned = &prepared.profiles()[0].interned;
        assert_eq!(interned.tree.len(), DEPTH, "{name}");
        let kept: u64 = interned
            .costs
            .iter()
            .map(|costs| total_cost(costs).value)
            .sum();
        assert_eq!(kept, samples, "{name}");
    }
}

#[test]
fn stacks_skip_grouping_nodes() {
    let recording = read(None, &cpuprofile("(root)"));
    let stacks = &recording.stacks;
    assert_eq!((stacks.len(), recording.samples.len()), (1, DEPTH));
}

/// A call that ends in the middle of a stack changes the stacks of all calls above it.
#[test]
fn calls_that_end_before_their_callees_are_limited() {
    let calls = (0..4_000).map(|at| complete(at, 4_000));
    let error = error_of(format!("[{}]", joined(calls)).as_bytes());
    assert!(error.contains("outlast their callers"), "{error}");
    assert!(error.contains("the limit for a file of"), "{error}");
    let calls = (0..1_000).map(|at| complete(at, 1_000));
    read(None, &format!("[{}]", joined(calls)));
}

/// Each program takes a pass over the whole recording.
#[test]
fn warns_about_programs_beyond_the_limit() {
    let text: String = (0..MAX_PROGRAMS + 2)
        .map(|ix| format!("p{ix} {ix} 1.5: cycles:\n\t1 f (/x)\n\n"))
        .collect();
    let recording = read(None, &text);
    let options = IngestOptions {
        split_processes: true,
        version: Some("1".to_owned()),
        ..IngestOptions::default()
    };
    let path = Path::new("a/file");
    let prepared = prepare((path, recording), &options, &mut |_| {}).unwrap();
    assert_eq!(prepared.profiles().len(), MAX_PROGRAMS);
    let warning = &prepared.warnings().last().unwrap().text;
    assert!(
        warning.starts_with("2 samples of the programs with fewest samples are left out"),
        "{warning}"
    );
}

/// Rust's v0 mangling has back references to parts of the name, which can have back references too.
#[test]
fn demangling_hostile_rust_names_ends() {
    let mut doubled = "_RINvC1a1fTlE".to_owned();
    let mut before = doubled.len() - 3;
    for _ in 0..40 {
        let at = doubled.len();
        let back = base_62(before - 2);
        write!(doubled, "TB{back}B{back}E").unwrap();
        before = at;
    }
    doubled.push('E');
    let names = [
        doubled,
        "_RNvC1a1f".to_owned() + &"B_".repeat(10_000),
        "_R".to_owned() + &"I".repeat(30_000),
        "_R".to_owned() + &"NvB_".repeat(10_000) + "1f",
        "_RINvC1a1f".to_owned() + &"FG".repeat(10_000) + "uEuE",
        "_RNvC1a1f".to_owned() + &"Nt".repeat(20_000),
        "_ZN".to_owned() + &"4$LT$".repeat(10_000) + "17h0123456789abcdefE",
    ];
    for name in names {
        if let Some(demangled) = demangled(&name) {
            assert!(demangled.len() <= MAX_NAME);
        }
    }
}

/// A number of a back reference: `_` is 0, `0_` is 1.
fn base_62(number: usize) -> String {
    const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let Some(mut left) = number.checked_sub(1) else {
        return "_".to_owned();
    };
    let mut digits = Vec::new();
    loop {
        digits.insert(0, char::from(DIGITS[left % 62]));
        left /= 62;
        if left == 0 {
            return digits.into_iter().chain(['_']).collect();
        }
    }
}
