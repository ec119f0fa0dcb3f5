//! Flame graphs: frames, widths and colours.

mod chosen;
mod page;
mod sides;

use crate::views::{Stacks, assert_golden, demo, folded, frame, view, view_of};
use sto_core::limits::MAX_COUNT;
use sto_core::model::FrameKind;
use sto_core::units::Cost;
use sto_query::error::FlameError;
use sto_query::questions::{Focus, KeyOptions};
use sto_query::render::flame::{FlameOptions, Widths, diff_svg, svg};
use sto_query::results::View;

fn picture_with(view: &View, options: &FlameOptions) -> String {
    svg((view, 0), options).unwrap()
}

fn picture(view: &View) -> String {
    picture_with(view, &FlameOptions::default())
}

fn difference_with(
    before: &View,
    after: &View,
    widths: Widths,
    options: &FlameOptions,
) -> Result<String, FlameError> {
    diff_svg((before, 0), (after, 0), widths, options)
}

fn difference(before: &View, after: &View) -> String {
    difference_with(before, after, Widths::default(), &FlameOptions::default()).unwrap()
}

/// A drawn frame: its tooltip and samples, colour and position.
#[derive(Debug, PartialEq)]
struct Drawn {
    title: String,
    samples: u64,
    fill: String,
    x: f64,
    y: f64,
    pixels: f64,
    text: Option<String>,
}

fn drawn(svg: &str) -> Vec<Drawn> {
    let between = |text: &str, start: &str, end: &str| {
        let (_, rest) = text.split_once(start)?;
        Some(rest.split_once(end)?.0.to_owned())
    };
    let frames = svg.split("<g ").skip(2).map(|frame| {
        let attribute = |name: &str| between(frame, &format!(" {name}=\""), "\"").unwrap();
        let title = between(frame, "<title>", "</title>").unwrap();
        let (before, _) = title.split_once(" sample").unwrap();
        let samples = before.rsplit([' ', '(']).next().unwrap();
        let fill = between(frame, "=\"", "\"").unwrap();
        Drawn {
            samples: samples.replace(',', "").parse().unwrap(),
            fill,
            x: attribute("x").parse().unwrap(),
            y: attribute("y").parse().unwrap(),
            pixels: attribute("width").parse().unwrap(),
            text: between(frame, "<text ", "</text>")
                .map(|text| text.split_once('>').unwrap().1.to_owned()),
            title,
        }
    });
    frames.collect()
}

fn find<'a>(frames: &'a [Drawn], name: &str) -> &'a Drawn {
    let named: Vec<_> = frames
        .iter()
        .filter(|f| f.title.split(" (").next() == Some(name))
        .collect();
    assert_eq!(named.len(), 1, "{name}: {frames:?}");
    named[0]
}

fn is_red(fill: &str) -> bool {
    fill.starts_with('w')
}

fn is_blue(fill: &str) -> bool {
    fill.starts_with('b')
}

/// Returns red, green and blue of a colour.
fn channels(fill: &str) -> [u8; 3] {
    let channel = |ix: usize| u8::from_str_radix(&fill[ix..ix + 2], 16).unwrap();
    [1, 3, 5].map(channel)
}

const NEUTRAL: &str = "n";

/// Removes the style sheet and the script, which are the same in every drawing.
fn without_script(svg: &str) -> String {
    let without = |svg: &str, start: &str, end: &str| {
        let (head, rest) = svg.split_once(start).unwrap();
        format!("{head}{}", rest.split_once(end).unwrap().1)
    };
    let svg = without(svg, "<style>", "</style>");
    without(&svg, "<script>", "</script>")
}

#[test]
fn flame_graphs_match_golden_files() {
    let (v1, v2) = demo();
    assert_golden("flame-v1.svg", &without_script(&picture(&v1)));
    assert_golden(
        "flame-diff-v1-v2.svg",
        &without_script(&difference(&v1, &v2)),
    );
    assert!(picture(&v1) == picture(&demo().0), "no colour is random");
}

#[test]
fn widths_are_totals_and_colours_are_kinds() {
    let frames = drawn(&picture(&demo().0));
    assert_eq!(find(&frames, "main").samples, 722);
    assert_eq!(find(&frames, "doLogging").samples, 30);
    let [r, _, b] = channels(&find(&frames, "main").fill);
    assert!(r > b, "user code is warm");
    let [r, _, b] = channels(&find(&frames, "ksys_write").fill);
    assert!(b > r, "the kernel is blue");
    let [r, g, b] = channels(&find(&frames, "[libz.so.1]").fill);
    assert!(
        r == g && g == b,
        "an address without a symbol is grey and bears its module"
    );
    assert!(
        !frames.iter().any(|frame| frame.title.contains("_[")),
        "{frames:?}"
    );
}

#[test]
fn frames_with_similar_names_are_separate_rectangles() {
    // As text, `a b` sorts between `a` and `a;c`.
    let frames = drawn(&picture(&view(
        "v1",
        &folded("a 10\na b 10\na;c 10\na 1 10", 1),
    )));
    assert_eq!(find(&frames, "a").samples, 20);
    assert_eq!(find(&frames, "a b").samples, 10);
    assert_eq!(find(&frames, "a 1").samples, 10);
    assert_eq!(find(&frames, "c").samples, 10);
}

#[test]
fn frames_of_one_name_below_one_caller_are_drawn_as_one() {
    let main = frame("main", "demo", FrameKind::User);
    let cost = Cost {
        samples: 5,
        value: 5,
    };
    let stacks: Stacks = vec![
        (vec![main, frame("read", "a.so", FrameKind::User)], cost),
        (vec![main, frame("poll", "b.so", FrameKind::User)], cost),
        (vec![main, frame("read", "c.so", FrameKind::User)], cost),
    ];
    let frames = drawn(&picture(&view("v1", &stacks)));
    assert_eq!(find(&frames, "read").samples, 10);
}

#[test]
fn slower_functions_and_callers_are_red_and_faster_ones_blue() {
    let (v1, v2) = demo();
    let frames = drawn(&difference(&v1, &v2));
    assert!(is_red(&find(&frames, "doLogging").fill));
    assert!(is_red(&find(&frames, "ksys_write").fill), "{frames:?}");
    assert!(
        is_red(&find(&frames, "run").fill),
        "its caller's total grew with it"
    );
    assert!(is_blue(&find(&frames, "doWork").fill));
    let swapped = drawn(&difference(&v2, &v1));
    assert!(is_blue(&find(&swapped, "doLogging").fill));
    assert!(is_red(&find(&swapped, "doWork").fill));
    assert_eq!(
        find(&swapped, "doLogging").samples,
        30,
        "widths are the candidate's"
    );
}

#[test]
fn widths_are_shares_and_names_fit_their_frames() {
    let (v1, v2) = demo();
    let inverted = FlameOptions {
        inverted: true,
        ..FlameOptions::default()
    };
    for svg in [
        picture(&v1),
        difference(&v1, &v2),
        picture_with(&v1, &inverted),
    ] {
        let frames = drawn(&svg);
        let all = &frames[0];
        let mut callers: Vec<&Drawn> = Vec::new();
        for frame in &frames {
            let share = frame.samples as f64 / all.samples as f64;
            assert!((frame.pixels - 1200.0 * share).abs() < 0.001, "{frame:?}");
            let level = (frame.y / 20.0) as usize;
            callers.truncate(level);
            if let Some(&Drawn { x, pixels, .. }) = callers.last().copied() {
                assert!(frame.x >= x - 0.001, "{frame:?}");
                assert!(frame.x + frame.pixels <= x + pixels + 0.002, "{frame:?}");
            }
            assert_eq!(callers.len(), level, "{frame:?} has a caller");
            callers.push(frame);
            let text = frame.text.as_deref().unwrap_or_default();
            assert!(
                text.chars().count() as f64 * 6.7 <= frame.pixels,
                "{frame:?}"
            );
        }
        assert_eq!(all.pixels, 1200.0);
    }
}

#[test]
fn boxes_have_short_names_and_tooltips_full_ones() {
    let boxes = |lines: String| drawn(&picture(&view("v1", &folded(lines.leak(), 1))));
    let arguments = "app::Item, ".repeat(30);
    let alone = &boxes(format!("job::Job<{arguments}u8>::run 9"))[1];
    assert_eq!(alone.text.as_deref(), Some("job::Job::run"));
    assert!(
        alone
            .title
            .starts_with(&format!("job::Job&lt;{arguments}u8&gt;::run ("))
    );
    let siblings = boxes("job::Job<app::Item>::run 9\njob::Job<u64>::run 9".to_owned());
    let texts = siblings[1..].iter().map(|frame| frame.text.as_deref());
    let expected = ["job::Job&lt;Item&gt;::run", "job::Job&lt;u64&gt;::run"];
    assert!(texts.eq(expected.map(Some)), "{siblings:?}");
}

#[test]
fn page_contains_the_drawing() {
    let v1 = demo().0;
    let page = picture_with(
        &v1,
        &FlameOptions {
            as_page: true,
            ..FlameOptions::default()
        },
    );
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    let titles = |svg: &str| -> Vec<String> {
        let frames = svg.split("<title>").skip(1);
        let frames = frames.filter(|part| part.contains("<rect "));
        let title = |part: &str| part.split("</title>").next().unwrap().to_owned();
        frames.map(title).collect()
    };
    assert_eq!(titles(&page), titles(&picture(&v1)));
}

#[test]
fn equal_shares_are_neutral_for_runs_of_any_length() {
    let short = view("v1", &folded("main;a 1\nmain;b 2\nmain;b;c 4", 999_983));
    let long = view("v2", &folded("main;a 7\nmain;b 14\nmain;b;c 28", 1_000_003));
    for frame in drawn(&difference(&short, &long))
        .iter()
        .chain(&drawn(&difference(&long, &short)))
    {
        assert_eq!(frame.fill, NEUTRAL, "{frame:?}");
    }
}

#[test]
fn change_within_noise_is_pale() {
    let before = view("v1", &folded("main;a 10000\nmain;b 10000", 1));
    let after = view("v2", &folded("main;a 10001\nmain;b 9999", 1));
    let frames = drawn(&difference(&before, &after));
    assert_eq!(find(&frames, "a").fill, NEUTRAL, "{frames:?}");
}

#[test]
fn difference_names_its_sides_and_omissions() {
    let before = view("v1", &folded("main;old;deep 25\nmain;same 75", 1));
    let after = view("v2", &folded("main;same 50", 1));
    let svg = difference(&before, &after);
    assert!(
        svg.contains("BASELINE demo@v1 → CANDIDATE demo@v2"),
        "{svg}"
    );
    assert!(
        svg.contains("Not drawn: stacks that only the baseline has, 25.00%."),
        "{svg}"
    );
}

#[test]
fn difference_matches_functions_like_a_comparison() {
    let before = "main.part.0;run::{{closure}}.llvm.1486;parse.constprop.0 25";
    let before = view("v1", &folded(before, 1));
    let after = view("v2", &folded("main;run::{{closure}}.llvm.99;parse 50", 1));
    let svg = difference(&before, &after);
    assert_eq!(names(&svg), ["all", "main", "parse", "run::{closure}"]);
    assert!(svg.contains("Not drawn: stacks that only the baseline has, 0.00%."));
    let exact = FlameOptions {
        matching: with!(KeyOptions {
            exact_symbols: true,
        }),
        ..FlameOptions::default()
    };
    let svg = difference_with(&before, &after, Widths::default(), &exact).unwrap();
    assert!(svg.contains("Not drawn: stacks that only the baseline has, 100.00%."));
    // Focus accepts the names of both builds and of findings.
    for name in ["main.part.0", "parse.constprop.0", "parse"] {
        assert_eq!(names(&focused(&before, &after, name)).len(), 4, "{name}");
    }
}

#[test]
fn modules_distinguish_functions_of_one_name() {
    let user = |symbol, module| frame(symbol, module, FrameKind::User);
    let stacks = |library| -> Stacks {
        let cost = folded("x 1", 1)[0].1;
        let main = user("main", "demo");
        vec![
            (vec![main, user("parse", "demo")], cost),
            (vec![main, user("parse", library)], cost),
        ]
    };
    let library = view("v1", &stacks("libjson.so"));
    assert_eq!(
        names(&difference(&library, &library)),
        ["all", "main", "parse", "parse\u{a0}[libjson.so]"]
    );
    let other = view("v2", &stacks("libxml.so"));
    let svg = difference(&library, &other);
    assert!(svg.contains("Not drawn: stacks that only the baseline has, 50.00%."));
}

#[test]
fn deep_recursion_states_where_it_ends() {
    let fib = frame("fib", "demo", FrameKind::User);
    let cost = Cost {
        samples: 3,
        value: 3,
    };
    let view = view("v1", &vec![(vec![fib; 1_000_000], cost)]);
    for svg in [picture(&view), difference(&view, &view)] {
        assert_eq!(drawn(&svg).len(), 501);
        assert!(svg.contains("Only the outermost 500 levels of calls are drawn."));
    }
}

#[test]
fn huge_values_are_drawn_and_named_in_full() {
    let huge = MAX_COUNT / 8;
    let stacks = folded("main;a 1\nmain;b 3", huge);
    let frames = drawn(&picture(&view("v1", &stacks)));
    assert!(find(&frames, "a").title.contains("25.00%"), "{frames:?}");
    let after = folded("main;a 2\nmain;b 2", huge);
    let frames = drawn(&difference(&view("v1", &stacks), &view("v2", &after)));
    assert!(is_red(&find(&frames, "a").fill));
    assert!(is_blue(&find(&frames, "b").fill));
}

#[test]
fn thin_frames_are_merged_into_their_callers() {
    let frames = drawn(&picture(&view("v1", &folded("main;a 99999\nmain;b 1", 1))));
    assert_eq!(find(&frames, "main").samples, 100_000);
    assert!(
        frames.iter().all(|frame| !frame.title.starts_with("b ")),
        "{frames:?}"
    );
}

#[test]
fn large_views_are_drawn_without_thin_deep_chains() {
    let name = |ix: usize| &*Box::leak(format!("{ix:0>200}").into_boxed_str());
    let user = |symbol| frame(symbol, "demo", FrameKind::User);
    let cost = Cost {
        samples: 1,
        value: 1,
    };
    let chains = (0..256).map(|ix| {
        (
            [vec![user("main")], vec![user(name(ix)); 480]].concat(),
            cost,
        )
    });
    let mut stacks: Stacks = chains.collect();
    stacks.push((
        vec![user("main"), user("wide")],
        Cost {
            samples: 99,
            value: 99,
        },
    ));
    let view = view("v1", &stacks);
    let frames = drawn(&difference(&view, &view));
    assert_eq!(find(&frames, "main").samples, 256 + 99);
    assert_eq!(find(&frames, "wide").samples, 99);
    assert_eq!(
        frames.len(),
        3,
        "the chains are left out, and their cost is main's"
    );
}

#[test]
fn empty_build_is_an_error_with_its_name() {
    let (full, empty) = (view("v1", &folded("a 1", 1)), view_of("v2", &[vec![]]));
    let error = svg((&empty, 0), &FlameOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "demo@v2 has no samples to draw");
    for [before, after] in [[&full, &empty], [&empty, &full]] {
        let drawn = difference_with(before, after, Widths::default(), &FlameOptions::default());
        let error = drawn.unwrap_err();
        assert!(matches!(error, FlameError::Empty { build } if build == "demo@v2"));
    }
}

fn focus(name: &str, views: &[&View]) -> FlameOptions {
    FlameOptions {
        focus: Some(Focus::new(name, views).unwrap()),
        ..FlameOptions::default()
    }
}

fn focused(before: &View, after: &View, name: &str) -> String {
    let options = focus(name, &[before, after]);
    difference_with(before, after, Widths::default(), &options).unwrap()
}

fn names(svg: &str) -> Vec<String> {
    let frames = drawn(svg);
    let mut names: Vec<String> = frames
        .iter()
        .map(|frame| frame.title.split(" (").next().unwrap().to_owned())
        .collect();
    names.sort();
    names
}
