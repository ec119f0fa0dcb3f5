//! Options and errors of flame graphs.

use crate::support::{Sandbox, repository};

#[test]
fn each_option_of_a_drawing_changes_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", "main;work;hash 60\nmain;old 40\n");
    sandbox.write("b.folded", "main;work;hash 50\nmain;log;hash 50\n");
    let plain = ["diff", "a.folded", "b.folded"];
    let draw = |options: &[&str]| sandbox.sto(&[&plain, options].concat()).succeeds().stdout;
    let mut drawn = vec![draw(&[])];
    assert_eq!(draw(&["--widths", "candidate"]), drawn[0]);
    for options in [
        &["--widths", "baseline"][..],
        &["--elided"],
        &["--ignore", "log"],
        &["--focus", "log"],
        &["--inverted"],
        &["--palette", "colorblind"],
    ] {
        let svg = draw(options);
        assert!(!drawn.contains(&svg), "{options:?}");
        drawn.push(svg);
    }
    assert!(drawn[2].contains("<title>old ("), "{}", drawn[2]);
    let both = sandbox.sto(&[&plain[..], &["--elided", "--widths", "baseline"]].concat());
    assert_eq!(both.status, Some(2), "{both:?}");
    sandbox
        .sto(&["diff", "a.folded", "a.folded", "--elided"])
        .fails_with(&["nothing to draw"]);
    sandbox
        .sto(&["flame", "a.folded", "--ignore", "main"])
        .fails_with(&["no stacks are left to draw"]);
}

#[test]
fn a_difference_has_no_colour_where_only_others_changed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", "main;parse 500\nmain;write 1000\n");
    sandbox.write("b.folded", "main;parse 1500\nmain;write 1000\n");
    let svg = sandbox
        .sto(&["diff", "a.folded", "b.folded"])
        .succeeds()
        .stdout;
    assert!(
        svg.contains("write (1,000 samples, 40.00%; +0.00%)"),
        "{svg}"
    );
    assert!(
        svg.contains("parse (1,500 samples, 60.00%; +40.00%)"),
        "{svg}"
    );
}

#[test]
fn a_drawing_is_a_page_if_its_file_name_ends_in_html() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", "main;work;hash 60\nmain;old 40\n");
    for (command, file, start) in [
        (&["flame", "a.folded"][..], "a.svg", "<?xml"),
        (&["flame", "a.folded"], "a.html", "<!DOCTYPE html>"),
        (
            &["diff", "a.folded", "a.folded"],
            "b.html",
            "<!DOCTYPE html>",
        ),
    ] {
        sandbox.sto(&[command, &["-o", file]].concat()).succeeds();
        let drawn = std::fs::read_to_string(sandbox.path(file)).unwrap();
        assert!(drawn.starts_with(start), "{file}: {drawn}");
        assert!(drawn.contains("<title>hash (60"), "{file}: {drawn}");
    }
}

#[test]
fn labels_of_stored_runs_can_be_roots() {
    let sandbox = Sandbox::new();
    for (name, cpu) in [("a", "zen4"), ("b", "zen5")] {
        let file = format!("{name}.folded");
        sandbox.write(&file, format!("main;{name} 30\n"));
        let label = format!("cpu={cpu}");
        let ingest = [
            "ingest", &file, "--build", "v1", "--exe", "demo", "--label", &label,
        ];
        sandbox.sto(&ingest).succeeds();
    }
    let svg = sandbox
        .sto(&["flame", "v1", "--by", "label:cpu"])
        .succeeds();
    for root in ["<title>cpu=zen4 (30", "<title>cpu=zen5 (30"] {
        assert!(svg.stdout.contains(root), "{svg:?}");
    }
    let run = sandbox.sto(&["flame", "v1", "--by", "label:host"]);
    let run = run.fails_with(&["demo@v1: no profile has a label `host`"]);
    assert!(run.stderr.contains("hint: there are labels cpu"), "{run:?}");
    let run = sandbox.sto(&["flame", "v1", "--by", "host"]);
    assert!(
        run.stderr.contains("expected `thread` or `label:KEY`"),
        "{run:?}"
    );
}

#[test]
fn threads_of_recordings_and_sliced_profiles_can_be_roots() {
    let sandbox = Sandbox::new();
    let recording = repository().join("testdata/perf-data/threads.perf.data");
    let recording = recording.to_str().unwrap();
    let of_file = sandbox
        .sto(&["flame", recording, "--by", "thread"])
        .succeeds();
    for thread in ["<title>adder (23137) (", "<title>divider (23138) ("] {
        assert!(of_file.stdout.contains(thread), "{of_file:?}");
    }
    let pair = sandbox.sto(&["diff", recording, recording, "--by", "thread"]);
    assert!(
        pair.succeeds().stdout.contains("<title>adder ("),
        "without ids"
    );

    sandbox
        .sto(&["ingest", recording, "--build", "v1"])
        .succeeds();
    let run = sandbox.sto(&["flame", "v1", "--by", "thread"]);
    let run = run.fails_with(&["the threads of profile", "were not kept"]);
    assert!(run.stderr.contains("name the recording itself"), "{run:?}");
    sandbox
        .sto(&["ingest", recording, "--build", "v2", "--slices", "3"])
        .succeeds();
    let stored = sandbox.sto(&["flame", "v2", "--by", "thread"]).succeeds();
    let frames = |svg: &str| svg.split_once("<g class=\"frames\"").unwrap().1.to_owned();
    assert_eq!(frames(&stored.stdout), frames(&of_file.stdout));

    sandbox.write("a.folded", "main 1\n");
    sandbox
        .sto(&["flame", "a.folded", "--by", "thread"])
        .fails_with(&["@a.folded: its samples have no threads"]);
}
