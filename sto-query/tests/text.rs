//! Parsing of colours, and distinct names of files.

use std::path::Path;
use sto_query::sources::distinct_names;
use sto_query::text::Look;

#[test]
fn colours_are_16_names_or_256_numbers_with_attributes() {
    for (text, painted) in [
        ("red", "\x1b[31mx\x1b[0m"),
        ("bright-red", "\x1b[91mx\x1b[0m"),
        ("bright-white", "\x1b[97mx\x1b[0m"),
        ("9", "\x1b[91mx\x1b[0m"),
        ("208", "\x1b[38;5;208mx\x1b[0m"),
        ("bold 255", "\x1b[1;38;5;255mx\x1b[0m"),
        ("underline dim", "\x1b[2;4mx\x1b[0m"),
        ("none", "x"),
    ] {
        assert_eq!(text.parse::<Look>().unwrap().paint("x"), painted, "{text}");
    }
    for text in [
        "",
        "crimson",
        "256",
        "-1",
        "red blue",
        "bold none",
        "bright-208",
    ] {
        let error = text.parse::<Look>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{text}` is not a colour: expected black")));
    }
}

#[track_caller]
fn assert_names(a: &str, b: &str, expected: (&str, &str)) {
    let (a, b) = distinct_names(Path::new(a), Path::new(b));
    assert_eq!((a.as_str(), b.as_str()), expected);
}

#[test]
fn names_of_files_have_the_shortest_distinct_path() {
    assert_names("x/v1.data", "y/v2.data", ("v1.data", "v2.data"));
    assert_names("x/perf.data", "y/perf.data", ("x/perf.data", "y/perf.data"));
    assert_names("perf.data", "y/perf.data", ("perf.data", "y/perf.data"));
    assert_names("/perf.data", "perf.data", ("/perf.data", "perf.data"));
}

#[test]
fn equal_paths_keep_their_name() {
    assert_names("x/perf.data", "x/perf.data", ("perf.data", "perf.data"));
}
