//! Frames that a profile says are not to be shown, as pprof's `Profile.Prune` leaves them out.

use super::build::Builder;
use crate::common::folded;

fn dropping(drop: &str, keep: &str) -> Builder {
    let mut builder = Builder::cpu();
    builder.0.drop_frames = builder.string(drop);
    builder.0.keep_frames = builder.string(keep);
    builder
}

#[test]
fn a_dropped_frame_and_what_it_calls_count_for_its_caller() {
    let mut builder = dropping("malloc|tcmalloc::.*", "");
    builder.stack("main;work;malloc;tcmalloc::grow;mmap", &[5, 5]);
    builder.stack("main;mallocate", &[1, 1]);
    assert_eq!(folded(&builder.read()), ["main;work 5", "main;mallocate 1"]);
}

#[test]
fn frames_are_kept_that_both_patterns_fit() {
    let mut builder = dropping(".*alloc", "calloc");
    builder.stack("main;calloc;malloc", &[5, 5]);
    assert_eq!(folded(&builder.read()), ["main;calloc 5"]);
}

#[test]
fn parameters_do_not_keep_a_frame() {
    let mut builder = dropping("grow", "");
    builder.stack("main;grow(int, long)", &[5, 5]);
    assert_eq!(folded(&builder.read()), ["main 5"]);
}

#[test]
fn a_name_ends_where_its_parameters_begin() {
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
fn a_stack_is_not_dropped_whole() {
    let mut builder = dropping("start|alloc", "");
    builder.stack("start;alloc;main;alloc", &[5, 5]);
    assert_eq!(folded(&builder.read()), ["start;alloc;main 5"]);
}

#[test]
fn of_inlined_lines_those_outside_of_a_dropped_one_stay() {
    let mut builder = dropping("alloc", "");
    let main = builder.location(0, &[("main", "", 0)]);
    let leaf = builder.location(0, &[("inner", "", 0), ("alloc", "", 0), ("outer", "", 0)]);
    let below = builder.location(0, &[("below", "", 0)]);
    builder.sample(vec![below, leaf, main], &[5, 5]);
    assert_eq!(folded(&builder.read()), ["main;outer 5"]);
}

#[test]
fn patterns_that_are_none_are_an_error() {
    let mut builder = dropping("(", "");
    builder.stack("main", &[5, 5]);
    let error = builder.error();
    assert!(error.contains("frames to drop"), "{error}");
}
