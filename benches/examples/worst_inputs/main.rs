//! Writes files with the highest cost for their size, and measures the cost of reading and interning each, or of
//! looking up a million addresses in it.
//!
//! `cargo run --release -p sto-benches --example worst_inputs [-- SHAPE]...` prints the table of
//! `benches/results/worst_inputs.md`: a separate process reads each file, and a row has its processor
//! time and peak memory.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]

mod formats;
mod perf_data;
mod symbols;

use formats::field;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use sto_core::formats::Format;
use sto_core::id::RecordingDigest;
use sto_core::ingest::SymbolOptions;
use sto_core::ingest::{IngestOptions, prepare};
use sto_core::model::{FrameTable, Granularity, Origin};
use sto_core::recording::{Location, ModuleIx, Recording, RecordingParts, Stacks};
use sto_core::stages::symbolize;
use sto_core::units::Bytes;

/// A name, and a function that returns the content of the file.
pub(crate) type Shape = (&'static str, fn() -> Vec<u8>);

const SHAPES: [Shape; 23] = [
    ("pprof: inlined lines, many times", pprof_inlined),
    (
        "pprof: inlined lines, as far as they are read",
        pprof_inlined_allowed,
    ),
    ("cpuprofile: chain of (root), each sampled", || {
        cpuprofile("(root)", 60_000)
    }),
    ("cpuprofile: deep, each call sampled", || {
        cpuprofile("f", 60_000)
    }),
    ("speedscope: deep, many equal leaves", speedscope_leaves),
    ("speedscope: deep, each call with time", speedscope_deep),
    ("Chrome: deep, each call with time", chrome_deep),
    (
        "Chrome: callers that end before what they call",
        chrome_misfits,
    ),
    ("Chrome: many profiles", chrome_profiles),
    ("Firefox: deep, each call sampled", firefox),
    ("Callgrind: dense graph of 1024 events", || {
        callgrind_dense(24, 1024)
    }),
    ("Callgrind: dense graph", || callgrind_dense(1000, 1)),
    ("Callgrind: chain, each function with cost", callgrind_chain),
    ("folded: one stack, other leaves", || folded(5_000, 1_000)),
    ("folded: a function each", || folded(2, 700_000)),
    ("perf script: one stack, other leaves", perf_script),
    ("DTrace: one stack, other leaves", dtrace),
    ("Visual Studio: deep, each call with time", visual_studio),
    ("YourKit: deep, each call with time", yourkit),
    ("xctrace: a deep stack, sampled often", xctrace),
    ("perf.data: samples between mappings", || {
        perf_data::mapped(true)
    }),
    ("perf.data: processes that copy many mappings", || {
        perf_data::mapped(false)
    }),
    ("JSON: arrays of nothing", || {
        let (stacks, weights) = (
            vec!["[]"; 1_000_000].join(","),
            vec!["0"; 1_000_000].join(","),
        );
        format!(r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[]}},"profiles":[{{"type":"sampled","name":"","unit":"none","startValue":0,"endValue":0,"samples":[{stacks}],"weights":[{weights}]}}]}}"#).into_bytes()
    }),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [flag, file] if flag == "--read" => return read(Path::new(file)),
        [flag, name, folder] if flag == "--look-up" => return look_up(name, Path::new(folder)),
        _ => {}
    }
    let is_asked =
        |name: &str| arguments.is_empty() || arguments.iter().any(|part| name.contains(&**part));
    println!("| shape | MB | CPU s | peak MB | result |\n|---|---|---|---|---|");
    let folder = std::env::temp_dir().join(format!("sto-worst-inputs-{}", std::process::id()));
    let all = SHAPES.iter().chain(&formats::SHAPES);
    for (name, bytes) in all.filter(|(name, _)| is_asked(name)) {
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("input");
        std::fs::write(&file, bytes()).unwrap();
        run(name, &folder, |command| command.arg("--read").arg(&file));
    }
    for (name, write, _) in symbols::SHAPES.iter().filter(|(name, ..)| is_asked(name)) {
        std::fs::create_dir(&folder).unwrap();
        write(&folder);
        run(name, &folder, |command| {
            command.arg("--look-up").arg(name).arg(&folder)
        });
    }
}

/// Measures a separate process, and removes the files that it reads.
fn run(name: &str, folder: &Path, asked: impl FnOnce(&mut Command) -> &mut Command) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let child = asked(&mut command).output().unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    let said = if child.status.success() {
        said.trim()
    } else {
        "died"
    };
    println!("| {name} | {:.2} | {said} |", size(folder) as f64 / 1e6);
    std::fs::remove_dir_all(folder).unwrap();
}

fn size(folder: &Path) -> u64 {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap());
    let sizes = entries.map(|entry| match entry.metadata().unwrap() {
        found if found.is_dir() => size(&entry.path()),
        found => found.len(),
    });
    sizes.sum()
}

fn read(file: &Path) {
    let options = IngestOptions {
        executable: Some("worst".into()),
        version: Some("1".into()),
        ..IngestOptions::default()
    };
    let prepared = prepare(file, &options, &mut |_| {});
    let cost = cost();
    let result = match prepared {
        Ok(prepared) => {
            let profiles = prepared.profiles().iter();
            let nodes: usize = profiles.map(|profile| profile.interned.tree.len()).sum();
            format!("{nodes} nodes")
        }
        Err(error) => {
            let text = error.to_string();
            let text = text.split_once("input: ").map_or(&*text, |(_, text)| text);
            text.chars().take(90).collect()
        }
    };
    println!("{cost} | {result}");
}

/// Looks up addresses of a module.
fn look_up(name: &str, folder: &Path) {
    let mut shapes = symbols::SHAPES.iter();
    let (.., place) = shapes.find(|(shape, ..)| *shape == name).unwrap();
    let (module, first, count) = place(folder);
    let parts = RecordingParts {
        format: Format::PerfData,
        source: RecordingDigest([0; 16]),
        source_bytes: Bytes(0),
        origin: Origin::default(),
        sample_types: Vec::new(),
        processes: Vec::new(),
        recorded: None,
        threads: Vec::new(),
        modules: vec![module],
        locations: (first..first + count)
            .map(|address| Location::Address {
                module: ModuleIx(0),
                address,
            })
            .collect(),
        named: FrameTable::new(),
        stacks: Stacks::default(),
        samples: Vec::new(),
        metrics: Vec::new(),
        calls: None,
        lost: 0,
        warnings: Vec::new(),
    };
    let recording = Recording::try_from(parts).expect("it is whole");
    let options = SymbolOptions {
        symbol_dirs: vec![folder.to_owned()],
        granularity: Granularity::Line,
        ..SymbolOptions::default()
    };
    let symbols = symbolize(&recording, &options);
    let cost = cost();
    let found = count as usize - symbols.modules[0].unresolved;
    let problem = symbols.modules[0].problem.as_ref();
    let problem = problem.map_or("", |problem| &problem.text);
    let problem: String = problem.chars().take(90).collect();
    println!("{cost} | {found} of {count} found {problem}");
}

/// Returns the processor time and the peak memory of this process.
fn cost() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // User and system time, in hundredths of a second.
    let ticks = stat.split(' ').skip(13).take(2);
    let took = ticks
        .map(|ticks| ticks.parse::<f64>().unwrap())
        .sum::<f64>()
        / 100.0;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    format!("{took:.2} | {}", peak * 1024 / 1_000_000)
}

/// A location with `lines` functions, and samples that contain it `depth` times.
fn pprof(lines: usize, samples: usize, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    field(1, &[8, 1, 16, 2], &mut out);
    for sample in 0..samples {
        let (mut places, mut body) = (vec![1; depth], Vec::new());
        let place = sample % depth;
        places[place] = (sample / depth % 100 + 2) as u8;
        field(1, &places, &mut body);
        body.extend([16, 1]);
        field(2, &body, &mut out);
    }
    for id in 1..=102 {
        let mut location = vec![8, id];
        for line in 0..if id == 1 { lines } else { 1 } {
            field(
                4,
                &[8, (line as u8).wrapping_add(id) % 100 + 1],
                &mut location,
            );
        }
        field(4, &location, &mut out);
    }
    for id in 1..=100 {
        field(5, &[8, id, 16, id + 2], &mut out);
    }
    for text in ["", "samples", "count"] {
        field(6, text.as_bytes(), &mut out);
    }
    for id in 1..=100 {
        field(6, format!("f{id}").as_bytes(), &mut out);
    }
    out
}

fn pprof_inlined() -> Vec<u8> {
    pprof(1_000, 100, 2_000)
}

fn pprof_inlined_allowed() -> Vec<u8> {
    pprof(9, 10_000, 80)
}

fn cpuprofile(name: &str, nodes: usize) -> Vec<u8> {
    let mut text = "{\"nodes\":[".to_owned();
    for id in 1..=nodes {
        let comma = if id < nodes { "," } else { "" };
        let child = if id < nodes {
            format!("{}", id + 1)
        } else {
            String::new()
        };
        write!(
            text,
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}"}},"children":[{child}]}}{comma}"#
        )
        .unwrap();
    }
    let ids: Vec<String> = (1..=nodes).map(|id| id.to_string()).collect();
    let deltas = vec!["1"; nodes].join(",");
    write!(
        text,
        r#"],"samples":[{}],"timeDeltas":[{deltas}],"startTime":0}}"#,
        ids.join(",")
    )
    .unwrap();
    text.into_bytes()
}

fn speedscope(frames: usize, events: &str, end: usize) -> Vec<u8> {
    let names: Vec<String> = (0..frames)
        .map(|ix| format!("{{\"name\":\"f{ix}\"}}"))
        .collect();
    format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{}]}},"profiles":[{{"type":"evented","name":"","unit":"nanoseconds","startValue":0,"endValue":{end},"events":[{events}]}}]}}"#,
        names.join(",")
    )
    .into_bytes()
}

fn event(kind: &str, frame: usize, at: usize) -> String {
    format!(r#"{{"type":"{kind}","frame":{frame},"at":{at}}}"#)
}

fn speedscope_leaves() -> Vec<u8> {
    let (depth, leaves) = (50_000, 50_000);
    let mut events: Vec<String> = (0..depth).map(|_| event("O", 0, 0)).collect();
    for leaf in 0..leaves {
        events.push(event("O", 1, leaf * 2));
        events.push(event("C", 1, leaf * 2 + 1));
    }
    events.extend((0..depth).map(|_| event("C", 0, leaves * 2)));
    speedscope(2, &events.join(","), leaves * 2)
}

fn speedscope_deep() -> Vec<u8> {
    let depth = 100_000;
    let mut events: Vec<String> = (0..depth).map(|at| event("O", 0, at)).collect();
    events.extend((0..depth).map(|at| event("C", 0, depth + at)));
    speedscope(1, &events.join(","), 2 * depth)
}

fn chrome(events: impl Iterator<Item = String>) -> Vec<u8> {
    let events: Vec<String> = events.collect();
    format!("[{}]", events.join(",\n")).into_bytes()
}

fn complete(at: usize, took: usize) -> String {
    format!(r#"{{"ph":"X","name":"f","pid":1,"tid":1,"ts":{at},"dur":{took}}}"#)
}

fn chrome_deep() -> Vec<u8> {
    chrome((0..100_000).map(|at| complete(at, 300_000 - 2 * at)))
}

fn chrome_misfits() -> Vec<u8> {
    chrome((0..100_000).map(|at| complete(at, 100_000)))
}

fn chrome_profiles() -> Vec<u8> {
    chrome((0..50_000).map(|ix| {
        format!(
            r#"{{"ph":"P","name":"Profile","id":"{ix}","pid":1,"tid":1,"ts":{},"args":{{"data":{{"startTime":{},"cpuProfile":{{"nodes":[{{"id":1,"callFrame":{{"functionName":"f"}}}}],"samples":[1]}},"timeDeltas":[1]}}}}}}"#,
            ix * 10,
            ix * 10
        )
    }))
}

fn firefox() -> Vec<u8> {
    let depth = 300_000;
    let prefixes: Vec<String> = (0..depth - 1).map(|ix| ix.to_string()).collect();
    let stacks: Vec<String> = (0..depth).map(|ix| ix.to_string()).collect();
    let zeros = vec!["0"; depth].join(",");
    format!(
        r#"{{"meta":{{"startTime":0,"categories":[{{"name":"User","color":"","subcategories":[]}}],"preprocessedProfileVersion":47}},"libs":[],"threads":[{{"name":"t","pid":1,"tid":1,"stringArray":["f"],"resourceTable":{{"length":0,"lib":[],"name":[]}},"funcTable":{{"length":1,"name":[0],"resource":[-1],"fileName":[null]}},"frameTable":{{"length":1,"func":[0],"address":[-1],"line":[null],"inlineDepth":[0],"category":[0],"implementation":[null]}},"stackTable":{{"length":{depth},"frame":[{zeros}],"prefix":[null,{}]}},"samples":{{"length":{depth},"stack":[{}],"time":[{zeros}],"weight":null,"weightType":"samples"}}}}]}}"#,
        prefixes.join(","),
        stacks.join(",")
    )
    .into_bytes()
}

fn callgrind_dense(functions: usize, events: usize) -> Vec<u8> {
    let names: Vec<String> = (0..events).map(|ix| format!("E{ix}")).collect();
    let mut text = format!("# callgrind format\nevents: {}\n", names.join(" "));
    let costs = |cost: &str| vec![cost; events].join(" ");
    for caller in 0..functions {
        writeln!(text, "fn=f{caller}\n1 {}", costs("99999999")).unwrap();
        for callee in caller + 1..functions {
            writeln!(text, "cfn=f{callee}\ncalls=1 1\n1 {}", costs("99999999")).unwrap();
        }
    }
    text.into_bytes()
}

fn callgrind_chain() -> Vec<u8> {
    let mut text = "# callgrind format\nevents: Ir\n".to_owned();
    let depth = 100_000;
    for caller in 0..depth {
        let left = depth - caller;
        writeln!(
            text,
            "fn=f{caller}\n1 1\ncfn=f{}\ncalls=1 1\n1 {left}",
            caller + 1
        )
        .unwrap();
    }
    writeln!(text, "fn=f{depth}\n1 1").unwrap();
    text.into_bytes()
}

fn folded(depth: usize, leaves: usize) -> Vec<u8> {
    let above = "a;".repeat(depth);
    (0..leaves)
        .flat_map(|leaf| format!("{above}f{leaf} 1\n").into_bytes())
        .collect()
}

fn perf_script() -> Vec<u8> {
    let above = "\t1 f (/x)\n".repeat(1_000);
    (0..1_000)
        .flat_map(|leaf| format!("p 1 1.5: cycles:\n\t1 g{leaf} (/x)\n{above}\n").into_bytes())
        .collect()
}

fn dtrace() -> Vec<u8> {
    let above = "  a`f\n".repeat(2_000);
    (0..1_000)
        .flat_map(|leaf| format!("\n  a`g{leaf}\n{above}  1\n").into_bytes())
        .collect()
}

fn visual_studio() -> Vec<u8> {
    let mut text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n".to_owned();
    for level in 0..200_000 {
        writeln!(text, "{level},f,1,1.0,1.0,1.0,1.0,m,").unwrap();
    }
    text.into_bytes()
}

fn yourkit() -> Vec<u8> {
    let mut text = "\"Name\",\"Time (ms)\",\"Own Time (ms)\",\"Level\"\n".to_owned();
    for level in 1..=200_000 {
        writeln!(text, "\"f()\",\"9\",\"1\",\"{level}\"").unwrap();
    }
    text.into_bytes()
}

fn xctrace() -> Vec<u8> {
    let mut text = "<?xml version=\"1.0\"?>\n<trace-query-result><node><schema name=\"time-profile\"></schema><row><backtrace id=\"2\"><frame id=\"1\" name=\"f\"/>".to_owned();
    text.push_str(&"<frame ref=\"1\"/>".repeat(100_000));
    text.push_str("</backtrace></row>");
    text.push_str(&"<row><backtrace ref=\"2\"/></row>".repeat(100_000));
    text.push_str("</node></trace-query-result>");
    text.into_bytes()
}
