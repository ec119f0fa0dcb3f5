//! Golden files of all outputs of reports.

use crate::views::{assert_fits, assert_golden, demo, folded, stored_build, view, view_of};
use crate::words::WORDS;
use sto_core::id::ProfileId;
use sto_core::store::{
    Checked, Concerns, Corruption, ExecutableStats, StorePart, StoreStats, Verification,
};
use sto_core::units::{Bytes, SampleType, Unit, UnixSeconds};
use sto_query::internal::listing::list_builds;
use sto_query::internal::tree::{Listed, call_tree, top};
use sto_query::questions::{Order, Prune};
use sto_query::render;
use sto_query::results::{BuildList, InStore};
use sto_query::text::{Colors, Style};

const TERMINAL: Style = Style {
    width: Some(80),
    colors: None,
    full_names: false,
    words: WORDS,
};
const PIPE: Style = Style {
    width: None,
    colors: None,
    full_names: false,
    words: WORDS,
};
/// The style of a terminal with `width` columns, without colours.
fn wide(width: usize) -> Style {
    Style {
        width: Some(width),
        ..TERMINAL
    }
}

const COLOR: Style = Style {
    width: Some(80),
    colors: Some(Colors::USUAL),
    full_names: false,
    words: WORDS,
};

#[test]
fn top_by_self_and_by_total() {
    let (v1, _) = demo();
    let six = Listed {
        limit: Some(6),
        ..Listed::default()
    };
    let by_self = top(&v1, 0, Order::SelfCost, &six);
    assert_fits("top-self-limit6", |style| {
        render::top::text(&by_self, style)
    });
    assert_golden(
        "top-self-limit6-color.txt",
        &render::top::text(&by_self, COLOR),
    );
    assert_golden(
        "top-self-limit6.json",
        &sto_query::results::json(&by_self).unwrap(),
    );
    let by_total = top(&v1, 0, Order::Total, &Listed::default());
    assert_golden("top-total-pipe.txt", &render::top::text(&by_total, PIPE));
}

#[test]
fn top_sorts_equal_costs_by_module_and_name() {
    let report = top(
        &view("v1", &folded("b 1\na 1\nc 2", 1)),
        0,
        Order::SelfCost,
        &Listed::default(),
    );
    let names: Vec<_> = report
        .functions
        .iter()
        .map(|f| f.frame.function.as_str())
        .collect();
    assert_eq!(names, ["c", "a", "b"]);
}

#[test]
fn shares_are_of_values_if_there_are_any() {
    let mut stacks = folded("a 1\nb 1", 1);
    stacks[1].1.value = 3;
    let report = top(&view("v1", &stacks), 0, Order::SelfCost, &Listed::default());
    assert_eq!(report.functions[0].frame.function, "b");
    assert_eq!(report.functions[0].self_cost.share, 0.75);
    assert_eq!(report.functions[0].self_cost.samples, 1);
}

#[test]
fn shares_without_values_are_of_samples() {
    let report = top(
        &view("v1", &folded("a 3\nb 1", 0)),
        0,
        Order::SelfCost,
        &Listed::default(),
    );
    assert_eq!(report.functions[0].self_cost.share, 0.75);
}

#[test]
fn long_names_are_shown_in_full_only_on_request() {
    let name = "<alloc::vec::Vec<core::option::Option<alloc::string::String>> as \
                core::iter::traits::collect::FromIterator<T>>::from_iter";
    let lines: &'static str = Box::leak(format!("{} 5", name).into_boxed_str());
    let view = view("v1", &folded(lines, 1));
    let full = Style {
        full_names: true,
        ..PIPE
    };
    for (style, is_whole) in [(TERMINAL, false), (PIPE, false), (full, true)] {
        let texts = [
            render::top::text(&top(&view, 0, Order::SelfCost, &Listed::default()), style),
            render::tree::text(&call_tree(&view, 0, &Prune::default()), style),
        ];
        for text in texts {
            assert_eq!(text.contains(name), is_whole, "{text}");
            assert!(is_whole || text.contains("Vec::from_iter"), "{text}");
            assert!(
                is_whole || text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
        }
    }
}

#[test]
fn call_tree_matches_golden_files() {
    let (v1, _) = demo();
    let report = call_tree(&v1, 0, &Prune::default());
    assert_fits("tree", |style| render::tree::text(&report, style));
    assert_golden("tree-color.txt", &render::tree::text(&report, COLOR));
    assert_golden("tree.json", &sto_query::results::json(&report).unwrap());
    let deep = call_tree(
        &v1,
        0,
        &with!(Prune {
            min_share: 0.0,
            max_depth: 5,
        }),
    );
    assert_golden("tree-depth5-pipe.txt", &render::tree::text(&deep, PIPE));
}

#[test]
fn reports_state_that_a_view_has_no_samples() {
    let empty = view_of("v1", &[vec![]]);
    let expected = "demo@v1: 0 samples in 1 profile\n";
    let top = top(&empty, 0, Order::SelfCost, &Listed::default());
    assert_eq!(render::top::text(&top, TERMINAL), expected);
    assert!(
        sto_query::results::json(&top)
            .unwrap()
            .contains("\"sample_type\": null")
    );
    let tree = call_tree(&empty, 0, &Prune::default());
    assert_eq!(render::tree::text(&tree, TERMINAL), expected);
}

fn store() -> BuildList {
    let mut builds = vec![
        stored_build("demo", "v1", &[0xab; 20], &[1, 2]),
        stored_build("demo", "v2", &[0xcd; 20], &[3]),
        stored_build("python3.13", &"5e".repeat(20), &[0x5e; 20], &[4]),
    ];
    builds[0].build.revision = Some("v1.0-3-gdeadbeef".to_owned());
    let first = &mut builds[0].profiles[0].profile;
    first.benchmark = Some("log-heavy".to_owned());
    first
        .labels
        .insert("host".to_owned(), "runner-7".to_owned());
    first.metrics.insert("throughput".to_owned(), 1234.5);
    first.quality.unresolved = 123;
    first.quality.lost = 3;
    let faults = SampleType {
        event: "page-faults".to_owned(),
        unit: Unit::Events,
    };
    first.sample_types.push(faults);
    let last = &mut builds[2].profiles[0];
    last.profile.origin.recorded = None;
    last.profile.quality.samples = 12_345_678;
    list_builds(&builds, Some(Bytes(1_589_248)))
}

#[test]
fn list_has_every_build_and_profile() {
    assert_golden("ls-width80.txt", &render::ls::text(&store(), TERMINAL));
    assert_golden("ls-pipe.txt", &render::ls::text(&store(), PIPE));
    for (golden, width) in [("ls-width40.txt", 40), ("ls-width200.txt", 200)] {
        assert_golden(golden, &render::ls::text(&store(), wide(width)));
    }
    assert_golden("ls.json", &sto_query::results::json(&store()).unwrap());
    assert_eq!(
        render::ls::text(&list_builds(&[], None), TERMINAL),
        "The store has no profiles yet; `AddProfile` adds one.\n"
    );
}

fn store_stats() -> StoreStats {
    const FILE: u64 = 1_589_248;
    let part = |part: &str, count, bytes| StorePart {
        part: part.to_owned(),
        count,
        bytes: Bytes(bytes),
        share: bytes as f64 / FILE as f64,
    };
    let executable = |name: &str, builds| ExecutableStats {
        name: name.to_owned(),
        builds,
        profiles: 10 * builds,
        nodes: 104_233,
        node_bytes: Bytes(123_456),
        profile_bytes: Bytes(45_678),
    };
    StoreStats {
        file: Bytes(FILE),
        parts: vec![
            part("free pages", 200, 819_200),
            part("nodes", 3, 246_912),
            part("redb: space in pages", 0, 200_000),
            part("frames", 2, 163_840),
            part("profile records", 30, 100_000),
            part("keys", 400, 59_296),
        ],
        builds: 3,
        profiles: 30,
        frames: 12_345,
        strings: 23_456,
        nodes: 208_466,
        packs: 5,
        executables: vec![executable("demo", 2), executable("python\n3.13", 1)],
        recordings: 30,
        source: Bytes(1_440_000_000),
        bytes_per_node: Some(2.0 * 123_456.0 / 208_466.0),
        bytes_per_profile: Some(2.0 * 45_678.0 / 30.0),
        saving: Bytes(FILE).compression_ratio(Bytes(1_440_000_000)),
    }
}

#[test]
fn store_stats_match_golden_files() {
    let report = store_stats();
    assert_golden("stats.txt", &render::stats::text(&report, TERMINAL));
    for (golden, width) in [("stats-width40.txt", 40), ("stats-width200.txt", 200)] {
        assert_golden(golden, &render::stats::text(&report, wide(width)));
    }
    assert_golden("stats.json", &sto_query::results::json(&report).unwrap());
}

fn verification(damages: Vec<Corruption>) -> InStore<Verification> {
    let checked = Checked {
        executables: 2,
        builds: 1_234,
        profiles: 12_345,
        frames: 123_456,
        nodes: 1_234_567,
        records: 13_582,
        columns: 25_000,
        bytes: Bytes(123_456_789),
    };
    let answer = Verification {
        sound: damages.is_empty(),
        checked,
        sound_profiles: 12_345 - damages.len() as u64,
        damages,
    };
    InStore {
        store: "/home/u/.sto".to_owned(),
        answer,
    }
}

fn damaged() -> InStore<Verification> {
    let damage = |location: &str, what: &str, concerns| Corruption {
        location: location.to_owned(),
        what: what.to_owned(),
        concerns,
    };
    let ids = |count: u8| (1..=count).map(|n| ProfileId([n; 16])).collect();
    verification(vec![
        damage(
            "the redb file",
            "its list of free pages is wrong: additions may overwrite stored data",
            Concerns::Everything,
        ),
        damage(
            "table records, build 2bf48cb3a3985b35ea55960dfa9dff69",
            "its samples differ from those of its profiles",
            Concerns::Build {
                executable: "demo\u{1b}[31m".to_owned(),
                version: "v1".to_owned(),
            },
        ),
        damage(
            "table columns, nodes 1/0",
            "it ends early",
            Concerns::Executable {
                executable: "demo".to_owned(),
            },
        ),
        damage(
            "table columns, costs 7/0",
            "the checksum does not match the content",
            Concerns::Profiles { profiles: ids(1) },
        ),
        damage(
            "table columns, modules 3/0",
            "it is missing",
            Concerns::Profiles { profiles: ids(9) },
        ),
        damage(
            "table columns, sums 9/0",
            "no record refers to it",
            Concerns::Nothing,
        ),
    ])
}

#[test]
fn verification_matches_golden_files() {
    let sound = verification(Vec::new());
    assert_golden("verify-sound.txt", &render::verify::text(&sound, TERMINAL));
    assert_golden(
        "verify-damaged.txt",
        &render::verify::text(&damaged(), TERMINAL),
    );
    assert_golden(
        "verify-damaged.json",
        &sto_query::results::json(&damaged()).unwrap(),
    );
}

#[test]
fn tables_fit_eighty_columns() {
    let (v1, _) = demo();
    let texts = [
        render::top::text(&top(&v1, 0, Order::SelfCost, &Listed::default()), TERMINAL),
        render::tree::text(&call_tree(&v1, 0, &Prune::default()), TERMINAL),
        render::ls::text(&store(), TERMINAL),
        render::stats::text(&store_stats(), TERMINAL),
        render::verify::text(&damaged(), TERMINAL),
        render::verify::text(&verification(Vec::new()), TERMINAL),
    ];
    for line in texts.iter().flat_map(|text| text.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
        assert_eq!(line, line.trim_end(), "no blanks at the end of a line");
    }
}

#[test]
fn times_are_in_rfc_3339_and_utc() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_767_225_599, "2025-12-31T23:59:59Z"),
        (1_767_323_045, "2026-01-02T03:04:05Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(UnixSeconds(seconds).to_string(), expected);
    }
    assert!(UnixSeconds(u64::MAX).to_string().ends_with('Z'));
}
