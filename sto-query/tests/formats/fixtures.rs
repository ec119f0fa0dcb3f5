//! Comparisons for tests of formats: one per verdict, one with hostile names, one with many findings.

use crate::compare::support::compare;
use crate::views::{Stacks, view_of};
use sto_core::model::{Frame, FrameKind};
use sto_core::units::{Cost, SampleType, Unit};
use sto_query::questions::CompareOptions;
use sto_query::results::{Comparison, View};

/// Names that have a special meaning in some format.
pub(crate) const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "line\r\n::error::feed",
    "::error file=x::colons",
    "##[error]old command",
    "%0A::error::percent",
    "cdata]]>end",
    "`tick` ``ticks``",
    "a|b\\|c",
    "**bold** [link](http://evil.example/) {0}",
    "@octocat #1 www.evil.example http://evil.example me@evil.example",
    "\x1b[31mred\x1b[0m",
    "\u{202e}txt.exe\u{2066}",
    "-o/etc/passwd",
    "'; $(rm -rf /) \"& '",
];

/// Samples of each function called by `main`.
type Costs<'a> = Vec<(&'a str, u64)>;

/// A view of three slightly different runs.
pub(crate) fn runs(version: &str, costs: &Costs) -> View {
    let stacks = [97, 100, 103].map(|percent| {
        let costs = costs.iter().map(|(name, samples)| {
            let samples = (samples * percent).div_ceil(100);
            (stack(name), cost(samples))
        });
        costs.collect::<Stacks>()
    });
    let cpu_clock = SampleType {
        event: "cpu-clock".to_owned(),
        unit: Unit::Nanoseconds,
    };
    let runs = stacks.iter().map(|run| vec![(cpu_clock.clone(), run)]);
    view_of(version, &runs.collect::<Vec<_>>())
}

/// A view of one run.
fn run(version: &str, costs: &Costs) -> View {
    let costs = costs
        .iter()
        .map(|(name, samples)| (stack(name), cost(*samples)));
    crate::views::view(version, &costs.collect())
}

fn stack(name: &str) -> Vec<Frame<'static>> {
    let frame = |symbol| Frame {
        symbol,
        module: "demo",
        kind: FrameKind::User,
        file: "src/demo, 100%.c",
        line: 7,
    };
    let main = Frame {
        line: 0,
        ..frame("main")
    };
    vec![main, frame(name.to_owned().leak())]
}

pub(super) fn cost(samples: u64) -> Cost {
    Cost {
        samples,
        value: samples * 1_000_000,
    }
}

fn compared(benchmark: &str, baseline: &View, candidate: &View) -> Comparison {
    let options = with!(CompareOptions { all: true });
    let mut comparison = compare(baseline, candidate, &options).unwrap();
    comparison.benchmark = Some(benchmark.to_owned());
    comparison
}

/// A comparison in which a function got slower, another is gone, and one moved.
pub(crate) fn worse() -> Comparison {
    let steady = [
        ("parse", 9_000),
        ("compute", 8_000),
        ("write", 5_000),
        ("read", 4_000),
    ];
    let before = [
        &steady[..],
        &[("log", 500), ("hash_v1", 700), ("check", 600)],
    ]
    .concat();
    let after = [&steady[..], &[("log", 5_000), ("hash_v2", 700)]].concat();
    compared("requests", &runs("v1", &before), &runs("v2", &after))
}

pub(crate) fn clean() -> Comparison {
    let steady = vec![("parse", 9_000), ("compute", 8_000), ("write", 5_000)];
    compared("startup", &runs("v1", &steady), &runs("v2", &steady))
}

pub(crate) fn insufficient() -> Comparison {
    let few = |samples| vec![("parse", samples), ("compute", 20)];
    compared("shutdown", &run("v1", &few(30)), &run("v2", &few(32)))
}

/// A comparison with one run per side, and thus weak evidence.
pub(crate) fn weak() -> Comparison {
    let log = |samples| {
        vec![
            ("parse", 9_000),
            ("compute", 8_000),
            ("write", 5_000),
            ("log", samples),
        ]
    };
    compared("requests", &run("v1", &log(500)), &run("v2", &log(5_000)))
}

/// A comparison in which all names are hostile.
pub(crate) fn hostile() -> Comparison {
    let steady = [
        ("parse", 90_000),
        ("compute", 80_000),
        ("write", 50_000),
        ("read", 40_000),
    ];
    let functions = |factor: u64| {
        let slower = (1..)
            .zip(HOSTILE)
            .map(|(ix, name)| (name, factor * (2_000 + 10 * ix)));
        slower.chain(steady).collect::<Costs>()
    };
    let (mut before, mut after) = (runs("v1", &functions(1)), runs("v2", &functions(3)));
    for (view, version) in [(&mut before, HOSTILE[0]), (&mut after, HOSTILE[1])] {
        view.selection.build.executable = HOSTILE[6].to_owned();
        view.selection.build.version = version.to_owned();
        view.selection.build.revision = Some(HOSTILE[9].to_owned());
        for stored in &mut view.selection.profiles {
            stored.profile.origin.host = Some(format!("{version} {}", HOSTILE[7]));
        }
    }
    compared(HOSTILE[5], &before, &after)
}

/// A comparison with more findings than formats other than JSON and text show.
pub(crate) fn many() -> Comparison {
    let steady: Vec<String> = (0..30).map(|ix| format!("steady_{ix:02}")).collect();
    let slower: Vec<String> = (0..70).map(|ix| format!("slower_{ix:02}")).collect();
    let functions = |samples: u64| {
        let steady = steady.iter().map(|name| (name.as_str(), 10_000));
        let slower = (0..).zip(&slower);
        let slower = slower.map(|(ix, name)| (name.as_str(), samples + 10 * ix));
        steady.chain(slower).collect::<Costs>()
    };
    compared(
        "everything",
        &runs("v1", &functions(2_000)),
        &runs("v2", &functions(8_000)),
    )
}
