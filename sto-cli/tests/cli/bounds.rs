//! Small files and stores that expand to large data: no command exceeds its memory limit, and the error names the
//! file or store.

use crate::support::{BEFORE, Run, Sandbox, content, temporary_files};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use sto_core::id::RecordingDigest;
use sto_core::model::{
    Build, Frame, FrameIx, FrameKind, FrameTable, Granularity, Origin, Profile, Quality,
};
use sto_core::store::Store;
use sto_core::tree::{NodeIx, ProfileData, StackTree};
use sto_core::units::{Bytes, Cost, SampleType, Unit, UnixSeconds};

/// Self cost of every frame of a chain.
const EACH: Cost = Cost {
    samples: 1,
    value: 1,
};

fn build() -> Build {
    Build {
        executable: "demo".to_owned(),
        version: "v1".to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    }
}

/// Adds a run of this benchmark to the store of a sandbox: a chain of `nodes` frames that alternate between these functions.
fn add(store: &Store, benchmark: &str, number: usize, names: &[String], nodes: usize) {
    let mut frames = FrameTable::new();
    for name in names {
        frames.insert(Frame {
            module: "demo",
            symbol: name,
            kind: FrameKind::User,
            file: "",
            line: 0,
        });
    }
    let mut tree = StackTree::new();
    let mut parent = None;
    for node in 0..nodes {
        parent = Some(tree.push(parent, FrameIx((node % names.len()) as u32)));
    }
    let build = build();
    let profile = Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(format!("{benchmark} {number}").as_bytes()),
        source_bytes: Bytes(1),
        format: "folded".to_owned(),
        origin: Origin {
            recorded: Some(UnixSeconds(number as u64)),
            ..Origin::default()
        },
        quality: Quality {
            samples: nodes as u64,
            ..Quality::default()
        },
        granularity: Granularity::Function,
        sample_types: vec![SampleType {
            event: "samples".to_owned(),
            unit: Unit::Samples,
        }],
        modules: Vec::new().into(),
        benchmark: Some(benchmark.to_owned()),
        labels: Default::default(),
        metrics: Default::default(),
    };
    let interned = ProfileData {
        frames,
        tree,
        costs: vec![(0..nodes as u32).map(|node| (NodeIx(node), EACH)).collect()],
        line_costs: vec![Vec::new()],
        slices: None,
        metrics: None,
        calls: None,
        kept_calls: None,
        source_digests: Default::default(),
        addresses: None,
    };
    store.writer().add(&build, &profile, &interned).unwrap();
}

/// A store of some kilobytes with 24 runs of one benchmark, each a chain of 100,000 nodes, and a short one of another.
/// Unpacked, they are 60 MB.
fn many_deep_runs() -> Sandbox {
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = STORE.get_or_init(|| {
        let sandbox = Sandbox::new();
        let store = Store::open_or_create(&sandbox.path("store")).unwrap();
        let names = ["recurse".to_owned()];
        for run in 0..24 {
            add(&store, "deep", run, &names, 100_000);
        }
        add(&store, "other", 0, &names, 1);
        fs::read(sandbox.path("store/store.redb")).unwrap()
    });
    let sandbox = Sandbox::new();
    sandbox.write("store/store.redb", bytes);
    sandbox
}

/// Writes a trace in NonSequitur's format with this number of calls, nearly all of which have a stack of their own.
fn write_many_stacks(sandbox: &Sandbox, calls: usize) {
    let (mut text, mut stack, mut random) = (String::new(), Vec::new(), 1_u64);
    let (mut made, mut time) = (0, 0);
    while made < calls || !stack.is_empty() {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let next = (random >> 33) as usize;
        time += 1 + next % 40;
        if made < calls && (stack.is_empty() || stack.len() < 40 && next % 100 < 55) {
            let function = next / 100 % 40;
            text += &format!("0 f{function} {time}\n");
            stack.push(function);
            made += 1;
        } else if let Some(function) = stack.pop() {
            text += &format!("1 f{function} {time}\n");
        }
    }
    fs::create_dir(sandbox.path("trace")).unwrap();
    sandbox.write("trace/1.txt", text);
}

#[test]
fn trace_with_many_stacks_needs_limited_memory() {
    let sandbox = Sandbox::new();
    write_many_stacks(&sandbox, 300_000);
    let limited = ["timeline", "trace", "--max-memory", "256MB"];
    let run = sandbox.sto(&limited).succeeds();
    assert!(
        run.stderr.contains("too many different stacks"),
        "{}",
        run.stderr
    );
    let timeline = sandbox.json(&limited);
    let records = timeline["records"].as_u64().unwrap();
    assert!((30_000..70_000).contains(&records), "{records}");
    let pages = [&limited[..], &["-o", "page.html"]].concat();
    sandbox.sto(&pages).succeeds();
    let ingest = [
        "ingest",
        "trace",
        "--build",
        "v1",
        "--slices",
        "100",
        "--max-memory",
        "256MB",
    ];
    sandbox.sto(&ingest).succeeds();
}

#[test]
fn summing_many_runs_needs_the_memory_of_a_few() {
    let sandbox = many_deep_runs();
    for command in ["top", "tree", "flame"] {
        let args = [
            command,
            "v1",
            "--benchmark",
            "deep",
            "--max-memory",
            "48MB",
            "-o",
            "out.svg",
        ];
        let args = if command == "flame" {
            &args[..]
        } else {
            &args[..6]
        };
        let run = sandbox.sto(args).succeeds();
        if command == "top" {
            assert!(
                run.stdout.contains("2,400,000 samples in 24 profiles"),
                "{run:?}"
            );
        }
    }
}

#[test]
fn limits_the_total_unpacked_size_of_a_query() {
    let sandbox = many_deep_runs();
    let size = fs::metadata(sandbox.path("store/store.redb"))
        .unwrap()
        .len();
    assert!(size < 200_000, "{size}");
    for args in [
        &["series", "recurse", "--benchmark", "deep"][..],
        &["report", "--benchmark", "deep", "-o", "out.html"],
        &["average", "v1", "--benchmark", "deep", "--build", "mean"],
        &["find-regressions", "v1", "v1", "--benchmark", "deep"],
    ] {
        let args = [args, &["--max-memory", "48MB"]].concat();
        let run = sandbox.sto(&args);
        let message = ["store.redb", "54.9 MiB", "45.8 MiB", "fewer profiles"];
        let run = run.fails_with(&message);
        assert!(run.stderr.contains("--max-memory SIZE"), "{run:?}");
    }
}

#[test]
fn limits_the_total_size_of_prefix_compressed_names() {
    let sandbox = Sandbox::new();
    let store = Store::open_or_create(&sandbox.path("store")).unwrap();
    let names: Vec<String> = (0..8_000)
        .map(|number| format!("{}{number:06}", "x".repeat(4000)))
        .collect();
    add(&store, "deep", 0, &names, names.len());
    for args in [&["top", "v1"][..], &["verify"]] {
        let args = [args, &["--max-memory", "24MB"]].concat();
        sandbox.sto(&args).fails_with(&["30.6 MiB", "22.9 MiB"]);
    }
    sandbox.sto(&["verify", "--max-memory", "200MB"]).succeeds();
}

#[test]
fn exceeding_the_memory_limit_reports_an_error_and_leaves_no_partial_files() {
    let sandbox = Sandbox::with_two_builds();
    let name = "x".repeat(4000);
    let stacks: String = (0..3000)
        .map(|number| format!("main;{name}{number} 1\n"))
        .collect();
    sandbox.write("many.folded", stacks);
    let ingest = ["ingest", "many.folded", "--exe", "demo", "--build", "v3"];
    let stored = || content(&Store::open(&sandbox.path("store")).unwrap());
    let before = stored();
    let mut ended = 0;
    // The limits make it end while it reads, builds the tree, packs or writes.
    for megabytes in std::iter::successors(Some(10), |last| Some(last + last / 4)) {
        let limit = format!("{megabytes}MB");
        let run = sandbox.sto(&[&ingest[..], &["--max-memory", &limit]].concat());
        assert!(temporary_files(&sandbox.path("store")).is_empty());
        if run.status == Some(0) {
            break;
        }
        let run = run.fails_with(&["many.folded", "needs more than", "MiB"]);
        assert!(run.stderr.contains("--max-memory SIZE"), "{run:?}");
        assert_eq!(stored(), before, "{limit}");
        ended += 1;
    }
    assert!(ended > 5, "{ended}");
    assert_eq!(stored().len(), before.len() + 1);
    sandbox.sto(&["verify"]).succeeds();
}

#[test]
fn the_memory_limit_can_be_set_by_environment_and_configuration() {
    let sandbox = many_deep_runs();
    let series = ["series", "recurse", "--benchmark", "deep"];
    let mut by_variable = sandbox.command(&series);
    Run::new(by_variable.env("STO_MAX_MEMORY", "16MB")).fails_with(&["the limit is 15.3 MiB"]);
    sandbox.write("home/.config/sto/config.toml", "max-memory = \"16MB\"\n");
    sandbox.sto(&series).fails_with(&["the limit is 15.3 MiB"]);
    let mut by_variable = sandbox.command(&series);
    Run::new(by_variable.env("STO_MAX_MEMORY", "1GB")).succeeds();
    let option = [&series[..], &["--max-memory", "much"]].concat();
    let run = sandbox.sto(&option);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--max-memory <SIZE>"), "{run:?}");
}

/// Files with endless data, without a writer, and larger than allowed, each with a part of the
/// expected error.
fn bad_files(sandbox: &Sandbox) -> Vec<(&'static str, &'static str)> {
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        sandbox.path("pipe"),
        rustix::fs::Mode::RUSR,
    )
    .unwrap();
    let large = fs::File::create(sandbox.path("large")).unwrap();
    large.set_len(3 << 30).unwrap();
    vec![
        ("/dev/zero", "not a regular file"),
        ("pipe", "not a regular file"),
        ("large", "larger than"),
    ]
}

#[test]
fn rejects_special_and_oversized_text_files() {
    let sandbox = Sandbox::with_two_builds();
    for (file, why) in bad_files(&sandbox) {
        for args in [
            &["find-regressions", "v1", "v2", "--policy", file][..],
            &["annotate", file],
        ] {
            sandbox.sto(args).fails_with(&[file, why]);
        }
        let mut config = sandbox.command(&["ls"]);
        Run::new(config.env("STO_CONFIG", file)).fails_with(&[file, why]);
    }
    let endless = "cat /dev/zero | \"$0\" annotate -";
    let mut shell = sandbox.program("sh", &["-c", endless, env!("CARGO_BIN_EXE_sto")]);
    shell.env("STO_STORE", sandbox.path("store"));
    Run::new(&mut shell).fails_with(&["-", "larger than"]);
    assert!(Path::new(&sandbox.write("a.folded", BEFORE)).exists());
}
