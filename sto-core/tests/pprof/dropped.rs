//! The `drop_frames` of a profile, which are removed like in pprof's `Profile.Prune`.

use super::build::Builder;
use crate::common::folded;

fn dropping(drop: &str, keep: &str) -> Builder {
    let mut builder = Builder::cpu();
    builder.0.drop_frames = builder.string(drop);
    builder.0.keep_frames = builder.string(keep);
    builder
}

#[test]
fn dropped_frames_count_for_their_caller() {
    let mut builder = dropping("malloc|tcmalloc::.*", "");
    builder.stack("main;work;malloc;tcmalloc::grow;mmap", &[5, 5]);
    builder.stack("main;mallocate", &[1, 1]);
    assert_eq!(folded(&builder.read()), ["main;work 5", "main;mallocate 1"]);
}

#[test]
fn keep_pattern_wins_over_drop_pattern() {
    let mut builder = dropping(".*alloc", "calloc");
    builder.stack("main;calloc;malloc", &[5, 5]);
    assert_eq!(folded(&builder.read()), ["main;calloc 5"]);
}

#[test]
fn parameters_do_not_match_the_keep_pattern() {
    let mut builder = dropping("grow", "");
    builder.stack("main;grow(int, long)", &[5, 5]);
    assert_eq!(folded(&builder.read()), ["main 5"]);
}

#[test]
fn matches_names_without_parameters() {
    let plain = r"tcmalloc::alloc|\(anonymous namespace\)::f|A::operator\(\)|f";
    for name in [
        "tcmalloc::alloc(int (*)())",
        "(anonymous namespace)::f()",
        "A::operator()(int)",
        ".f",
    ] {
        let mut builder = dropping(plain, "");
        builder.stack(&format!("main;{name}"), &[5, 5]);
        assert_eq!(folded(&builder.read()), ["main 5"], "{name}");
    }
}

#[test]
fn never_drops_a_whole_stack() {
    let mut builder = dropping("start|alloc", "");
    builder.stack("start;alloc;main;alloc", &[5, 5]);
    assert_eq!(folded(&builder.read()), ["start;alloc;main 5"]);
}

#[test]
fn keeps_callers_of_dropped_inlined_lines() {
    let mut builder = dropping("alloc", "");
    let main = builder.location(0, &[("main", "", 0)]);
    let leaf = builder.location(0, &[("inner", "", 0), ("alloc", "", 0), ("outer", "", 0)]);
    let below = builder.location(0, &[("below", "", 0)]);
    builder.sample(vec![below, leaf, main], &[5, 5]);
    assert_eq!(folded(&builder.read()), ["main;outer 5"]);
}

#[test]
fn rejects_invalid_patterns() {
    let mut builder = dropping("(", "");
    builder.stack("main", &[5, 5]);
    let error = builder.error();
    assert!(error.contains("frames to drop"), "{error}");
}
