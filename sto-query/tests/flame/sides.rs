//! Differences: widths by either side, functions that are gone, and colours.

use super::{
    NEUTRAL, difference_with, drawn, find, focus, focused, is_blue, is_red, names, picture_with,
    without_script,
};
use crate::views::{assert_golden, demo, folded, view};
use sto_query::error::FlameError;
use sto_query::render::flame::{FlameOptions, Palette, Widths};

#[test]
fn gone_function_has_its_width_in_the_baseline() {
    let before = view("v1", &folded("main;old 30\nmain;run 70", 1));
    let after = view("v2", &folded("main;run 100", 1));
    let svg = focused(&before, &after, "old");
    assert_eq!(names(&svg), ["all", "main", "old"]);
    assert!(is_blue(&find(&drawn(&svg), "old").fill));
    assert!(svg.contains("Width: share in the baseline."), "{svg}");
}

#[test]
fn widths_of_baseline_include_functions_only_in_baseline() {
    let before = view("v1", &folded("main;old 25\nmain;same 75", 1));
    let after = view("v2", &folded("main;new 60\nmain;same 40", 1));
    let draw = |widths| difference_with(&before, &after, widths, &FlameOptions::default()).unwrap();
    let of_baseline = draw(Widths::Baseline);
    assert_eq!(names(&of_baseline), ["all", "main", "old", "same"]);
    let frames = drawn(&of_baseline);
    assert_eq!(find(&frames, "old").samples, 25);
    assert!(is_blue(&find(&frames, "old").fill));
    assert!(is_blue(&find(&frames, "same").fill));
    assert!(
        of_baseline.contains("Not drawn: stacks that only the candidate has, 60.00%."),
        "{of_baseline}"
    );
    let of_candidate = draw(Widths::Candidate);
    assert_eq!(names(&of_candidate), ["all", "main", "new", "same"]);
    assert!(is_red(&find(&drawn(&of_candidate), "new").fill));
}

#[test]
fn widths_of_baseline_do_not_depend_on_candidate() {
    let before = view("v1", &folded("main;a 997\nmain;b 3", 1));
    let after = view("v2", &folded("main;a 1\nmain;b 1", 1));
    let svg = difference_with(&before, &after, Widths::Baseline, &FlameOptions::default());
    let svg = svg.unwrap();
    assert_eq!(find(&drawn(&svg), "a").samples, 997);
    assert!(
        svg.contains("a (997 ns in 997 samples, 99.70%; -49.70%)"),
        "{svg}"
    );
}

#[test]
fn elided_stacks_are_those_only_in_the_baseline() {
    let before = view(
        "v1",
        &folded(
            "main;old;deep 20\nmain;same 60\nmain;same;gone 10\nother 10",
            1,
        ),
    );
    let after = view("v2", &folded("main;same 90\nmain;new 9\nother 1", 1));
    let svg = difference_with(&before, &after, Widths::Elided, &FlameOptions::default()).unwrap();
    assert_eq!(names(&svg), ["all", "deep", "gone", "main", "old", "same"]);
    let frames = drawn(&svg);
    for (name, width, is_gone) in [
        ("main", 30, false),
        ("old", 20, true),
        ("deep", 20, true),
        ("same", 10, false),
        ("gone", 10, true),
    ] {
        let frame = find(&frames, name);
        assert_eq!(frame.samples, width, "{name}");
        assert_eq!(is_blue(&frame.fill), is_gone, "{name}");
        assert_eq!(frame.fill == NEUTRAL, !is_gone, "{name}");
    }
    assert!(
        svg.contains("Blue: stacks that the candidate lacks, 30.00%."),
        "{svg}"
    );
    assert_golden("flame-elided.svg", &without_script(&svg));
}

#[test]
fn no_elided_stacks_is_an_error() {
    let (v1, v2) = demo();
    let error = difference_with(&v1, &v2, Widths::Elided, &FlameOptions::default()).unwrap_err();
    assert!(matches!(error, FlameError::NothingElided { .. }));
    assert_eq!(
        error.to_string(),
        "nothing to draw: demo@v2 has every stack of demo@v1"
    );
}

#[test]
fn new_function_in_focus_has_its_own_width() {
    let before = view("v1", &folded("main;run 100", 1));
    let after = view("v2", &folded("main;run 70\nmain;new 30", 1));
    let options = focus("new", &[&before, &after]);
    let svg = difference_with(&before, &after, Widths::Baseline, &options).unwrap();
    assert_eq!(names(&svg), ["all", "main", "new"]);
    assert!(svg.contains("Width: share in the candidate."), "{svg}");
}

#[test]
fn title_has_values_with_units() {
    let (v1, v2) = demo();
    let svg = difference_with(&v1, &v2, Widths::Candidate, &FlameOptions::default()).unwrap();
    let title = "BASELINE demo@v1 → CANDIDATE demo@v2, cpu-clock (724 ms → 994 ms)";
    assert!(svg.contains(title), "{svg}");
}

#[test]
fn colour_blind_palette_is_orange_and_blue() {
    let (v1, v2) = demo();
    let colorblind = FlameOptions {
        palette: Palette::Colorblind,
        ..FlameOptions::default()
    };
    let svg = difference_with(&v1, &v2, Widths::Candidate, &colorblind).unwrap();
    assert!(
        svg.contains("Orange: a larger share in the candidate"),
        "{svg}"
    );
    let frames = drawn(&svg);
    assert!(
        svg.contains("<svg class=\"flame alone colorblind\""),
        "{svg}"
    );
    assert!(is_red(&find(&frames, "doLogging").fill), "orange");
    assert!(is_blue(&find(&frames, "doWork").fill));
    assert_eq!(find(&frames, "all").fill, NEUTRAL);
    let plain = difference_with(&v1, &v2, Widths::Candidate, &FlameOptions::default()).unwrap();
    let numbers = |svg: &str| -> Vec<_> {
        let frames = drawn(svg).into_iter();
        frames.map(|frame| (frame.title, frame.samples)).collect()
    };
    assert_eq!(numbers(&svg), numbers(&plain), "nothing else differs");

    let one = picture_with(&v1, &colorblind);
    assert!(one.contains("user: orange, kernel: sky blue"), "{one}");
    assert_golden("flame-colorblind-v1.svg", &without_script(&one));
}
