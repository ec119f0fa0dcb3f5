//! Views from folded stacks, and comparisons with golden files.

use crate::words::WORDS;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::id::{BuildRecordingId, ProfileId, RecordingDigest};
use sto_core::model::{
    Build, Frame, FrameKind, FrameTable, GnuBuildId, Granularity, Origin, Profile, Quality,
};
use sto_core::store::{Loaded, StoredBuild, StoredProfile};
use sto_core::tree::{NodeIx, SelfCosts, StackTree};
use sto_core::units::{Bytes, Cost, SampleType, Unit, UnixSeconds};
use sto_query::results::View;
use sto_query::select::Selection;
use sto_query::text::Style;
use unicode_width::UnicodeWidthStr;

/// Stacks with their costs, root first.
pub(crate) type Stacks = Vec<(Vec<Frame<'static>>, Cost)>;

pub(crate) fn frame(symbol: &'static str, module: &'static str, kind: FrameKind) -> Frame<'static> {
    Frame {
        module,
        symbol,
        kind,
        file: "",
        line: 0,
    }
}

/// Parses folded stacks: `main;run 3` is three samples, each with this value.
pub(crate) fn folded(lines: &'static str, value: u64) -> Stacks {
    lines
        .trim()
        .lines()
        .map(|line| {
            let (stack, samples) = line.trim().rsplit_once(' ').unwrap();
            let samples = samples.parse().unwrap();
            let frames = stack
                .split(';')
                .map(|symbol| frame(symbol, "demo", FrameKind::User));
            (
                frames.collect(),
                Cost {
                    samples,
                    value: samples * value,
                },
            )
        })
        .collect()
}

/// Creates a view of one run with the sample type `cpu-clock`.
pub(crate) fn view(version: &str, stacks: &Stacks) -> View {
    let cpu_clock = SampleType {
        event: "cpu-clock".to_owned(),
        unit: Unit::Nanoseconds,
    };
    view_of(version, &[vec![(cpu_clock, stacks)]])
}

/// Creates a view of several runs, each with its sample types.
pub(crate) fn view_of(version: &str, runs: &[Vec<(SampleType, &Stacks)>]) -> View {
    let mut stacks: BTreeMap<&[Frame<'static>], NodeIx> = BTreeMap::new();
    for (frames, _) in runs.iter().flatten().flat_map(|(_, stacks)| stacks.iter()) {
        stacks.insert(frames, NodeIx(0));
    }
    let mut loaded = Loaded {
        frames: FrameTable::new(),
        tree: StackTree::new(),
        costs: Vec::new(),
    };
    // In sorted order, each stack shares its longest prefix with the previous one.
    let mut open: Vec<(NodeIx, Frame<'static>)> = Vec::new();
    for (frames, node) in &mut stacks {
        let shared = open
            .iter()
            .zip(*frames)
            .take_while(|((_, a), b)| a == *b)
            .count();
        open.truncate(shared);
        for &frame in &frames[shared..] {
            let ix = loaded.frames.insert(frame);
            let parent = open.last().map(|(node, _)| *node);
            open.push((loaded.tree.push(parent, ix), frame));
        }
        *node = open.last().unwrap().0;
    }
    for run in runs {
        let columns = run.iter().map(|(_, run_stacks)| {
            let mut column: BTreeMap<NodeIx, Cost> = BTreeMap::new();
            for (frames, cost) in run_stacks.iter() {
                *column.entry(stacks[frames.as_slice()]).or_default() += *cost;
            }
            column.into_iter().collect::<SelfCosts>()
        });
        loaded.costs.push(columns.collect());
    }
    let build = build("demo", version);
    let profiles = runs.iter().enumerate().map(|(ix, run)| {
        let sample_types = run
            .iter()
            .map(|(sample_type, _)| sample_type.clone())
            .collect();
        stored_profile(&build, ix as u8, sample_types)
    });
    let profiles = profiles.collect();
    let selection = Selection::new(build, profiles);
    View::from_loaded(selection, loaded)
}

pub(crate) fn build(executable: &str, version: &str) -> Build {
    Build {
        executable: executable.to_owned(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    }
}

/// A profile whose source is one byte.
pub(crate) fn stored_profile(
    build: &Build,
    source: u8,
    sample_types: Vec<SampleType>,
) -> StoredProfile {
    let profile = Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(&[source]),
        source_bytes: Bytes(36_120_000),
        format: "perf.data".to_owned(),
        origin: Origin {
            recorded: Some(UnixSeconds(1_767_323_045)),
            ..Origin::default()
        },
        quality: Quality {
            samples: 1_234,
            ..Quality::default()
        },
        granularity: Granularity::Function,
        sample_types,
        modules: [].into(),
        benchmark: None,
        labels: BTreeMap::new(),
        metrics: BTreeMap::new(),
    };
    StoredProfile {
        id: ProfileId(profile.build_recording_id().0),
        profile,
        gnu_build_id: build.gnu_build_id.clone(),
        revision: build.revision.clone(),
        commit: build.commit.clone(),
        stored: Bytes(87_600),
        slices: Bytes(0),
    }
}

/// A build with one profile for each of these sources.
pub(crate) fn stored_build(
    executable: &str,
    version: &str,
    build_id: &[u8],
    sources: &[u8],
) -> StoredBuild {
    let mut build = build(executable, version);
    build.gnu_build_id = GnuBuildId::from_bytes(build_id);
    let cpu_clock = SampleType {
        event: "cpu-clock".to_owned(),
        unit: Unit::Nanoseconds,
    };
    let profiles = sources
        .iter()
        .map(|&s| stored_profile(&build, s, vec![cpu_clock.clone()]));
    StoredBuild {
        tags: Vec::new(),
        id: build.id(),
        profiles: profiles.collect(),
        build,
    }
}

pub(crate) fn profile_id(build: &Build, source: u8) -> ProfileId {
    ProfileId(BuildRecordingId::new(build.id(), RecordingDigest::hash_bytes(&[source])).0)
}

/// Two builds of a program that logs more in the second one.
pub(crate) fn demo() -> (View, View) {
    let user = |symbol| frame(symbol, "demo", FrameKind::User);
    let inlined = |symbol| frame(symbol, "demo", FrameKind::Inlined);
    let libc = |symbol| frame(symbol, "libc.so.6", FrameKind::User);
    let kernel = |symbol| frame(symbol, "[kernel]", FrameKind::Kernel);
    let unresolved = |symbol| frame(symbol, "libz.so.1", FrameKind::Unresolved);
    let main = [user("_start"), libc("__libc_start_main"), user("main")];
    let cost = |samples| Cost {
        samples,
        value: samples * 1_000_000,
    };
    let stacks = |logging: u64| -> Stacks {
        let with = |rest: &[Frame<'static>], samples| (([&main, rest].concat()), cost(samples));
        vec![
            with(&[], 1),
            with(&[user("run")], 4),
            with(&[user("run"), user("doWork")], 300),
            with(
                &[
                    user("run"),
                    user("doWork"),
                    inlined("mix(unsigned char[16], int)"),
                ],
                250,
            ),
            with(&[user("run"), user("doLogging")], 20 * logging),
            with(
                &[
                    user("run"),
                    user("doLogging"),
                    libc("write"),
                    kernel("ksys_write"),
                ],
                10 * logging,
            ),
            with(&[user("run"), unresolved("[libz.so.1+0x1f30]")], 7),
            with(&[user("fib"), user("fib"), user("fib")], 90),
            with(&[user("fib"), user("fib")], 30),
            with(&[user("fib")], 10),
            (vec![kernel("ret_from_fork"), kernel("kthread")], cost(2)),
        ]
    };
    (view("v1", &stacks(1)), view("v2", &stacks(10)))
}

/// Names that a hostile program may have.
pub(crate) fn hostile_names() -> Vec<&'static str> {
    let long: &'static str = Box::leak("x".repeat(10_000).into_boxed_str());
    vec![
        "<script>alert(1)</script>",
        "]]><svg onload=\"alert(2)\"/>",
        "\"; DROP TABLE nodes; --",
        "\x1b]0;owned\x07\x1b[31mred",
        "line\nfeed\r\ttab",
        "\u{202e}gnp.exe",
        "null\0byte\u{ffff}",
        "# comment",
        "ends in 12 34",
        " ",
        "",
        "--",
        "a;b",
        long,
    ]
}

/// Compares with a file in `tests/golden`, or writes it if `STO_UPDATE_GOLDENS` is set.
#[track_caller]
pub(crate) fn assert_golden(name: &str, actual: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    sto_test_support::assert_golden(&folder.join(name), actual);
}

/// Puts each element of markup on its own line, for readable golden files.
pub(crate) fn lines(markup: &str) -> String {
    markup.replace("><", ">\n<")
}

/// Compares text at several widths with `NAME-width40.txt` and so on, and checks that no line is wider.
#[track_caller]
pub(crate) fn assert_fits(name: &str, text: impl Fn(Style) -> String) {
    for width in [40, 80, 200] {
        let style = Style {
            width: Some(width),
            colors: None,
            full_names: false,
            words: WORDS,
        };
        let text = text(style);
        assert_golden(&format!("{name}-width{width}.txt"), &text);
        for line in text.lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}
