//! `sto prune`, `sto compact` and `sto export-store`: removed and remaining profiles, and output.

use crate::support::{AFTER, BEFORE, Run, Sandbox};
use serde_json::{Value, json};

/// A sandbox with four builds of `demo`; the last one has a name with control characters.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_two_builds();
    for (build, label, benchmark) in [
        ("v3", "branch=main", "startup"),
        (HOSTILE, "branch=fix", "startup"),
    ] {
        let file = sandbox.write("c.folded", format!("{AFTER}main;{label} 7\n"));
        let file = file.to_str().unwrap();
        let mut args = vec!["ingest", file, "--build", build, "--exe", "demo"];
        args.extend(["--label", label, "--benchmark", benchmark]);
        sandbox.sto(&args).succeeds();
    }
    sandbox
}

const HOSTILE: &str =
    "\u{1b}[31mred\u{202e}\nvery-very-very-very-very-very-very-very-very-very-very-long";

/// Returns the versions in a report of `sto prune`.
fn gone(report: &Value) -> Vec<String> {
    let builds = report["builds"].as_array().unwrap().iter();
    builds
        .map(|build| build["version"].as_str().unwrap().to_owned())
        .collect()
}

fn listed(sandbox: &Sandbox) -> Vec<String> {
    gone(&sandbox.json(&["ls"]))
}

/// Returns the names of an object's fields.
fn fields(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn dry_run_reports_profiles_and_changes_nothing() {
    let sandbox = sandbox();
    let before = sandbox.store_bytes();
    let prune = ["prune", "--benchmark", "startup", "--dry-run"];
    let run = sandbox.sto(&prune).succeeds();
    assert!(
        run.stdout.contains("2 profiles would be removed, 2 left"),
        "{run:?}"
    );
    assert!(run.stdout.contains("demo@v3"), "{run:?}");
    assert!(run.stdout.contains("nothing was changed"), "{run:?}");
    let dry = sandbox.json(&prune);
    assert_eq!(sandbox.store_bytes(), before);

    // The actual run reports the same.
    let mut done = sandbox.json(&prune[..3]);
    assert_eq!(dry["dry_run"], true);
    assert_eq!(done["dry_run"], false);
    let file = sandbox.path("store/store.redb");
    assert_eq!(done["bytes_after"], file.metadata().unwrap().len());
    done["dry_run"] = json!(true);
    assert_eq!(done, dry);
    assert_eq!(listed(&sandbox), ["v1", "v2"]);
}

#[test]
fn kept_selectors_override_all_conditions() {
    let sandbox = sandbox();
    let builds = sandbox.json(&["ls"])["builds"].clone();
    let mut builds = builds.as_array().unwrap().iter();
    let id = builds.find(|build| build["version"] == "v2").unwrap()["profiles"][0]["id"].clone();
    let mut prune = vec!["prune", "--keep-last", "0", "--keep", "v3", "--keep"];
    prune.push(id.as_str().unwrap());
    let report = sandbox.json(&prune);
    assert_eq!(report["profiles"], 2);
    assert_eq!(report["profiles_left"], 2);
    let mut left = listed(&sandbox);
    left.sort();
    assert_eq!(left, ["v2", "v3"]);
    for build in ["v2", "v3"] {
        sandbox.sto(&["top", build]).succeeds();
    }
    sandbox.sto(&["top", "v1"]).fails_with(&["v1"]);
}

#[test]
fn prunes_by_label_benchmark_and_number() {
    for (arguments, expected) in [
        (&["--label", "branch=main"][..], &["v3"][..]),
        (&["--label", "branch=main", "--label", "branch=fix"], &[]),
        (&["--benchmark", "startup", "--keep-last", "1"], &[]),
        (&["--older-than", "1d"], &[]),
        (&["--max-size", "1GB"], &[]),
    ] {
        let sandbox = sandbox();
        let prune = [&["prune", "--dry-run"], arguments].concat();
        let report = sandbox.json(&prune);
        if arguments.contains(&"--keep-last") {
            // One of the two runs of this benchmark remains.
            assert_eq!(report["profiles"], 1, "{report}");
        } else {
            assert_eq!(gone(&report), expected, "{arguments:?}");
        }
    }
}

#[test]
fn reports_unreachable_size_of_a_store() {
    let sandbox = sandbox();
    let prune = ["prune", "--max-size", "1kB", "--keep", "v1", "--dry-run"];
    let report = sandbox.json(&prune);
    assert_eq!(report["fits"], false);
    assert_eq!(report["profiles_left"], 1);
    let text = sandbox.sto(&prune).succeeds().stdout;
    assert!(text.contains("still more than asked for"), "{text}");
}

#[test]
fn json_has_the_specified_fields() {
    let sandbox = sandbox();
    let prune = sandbox.json(&["prune", "--benchmark", "startup"]);
    assert_eq!(prune["schema"], "sto.prune/1");
    let mut expected = [
        "schema",
        "dry_run",
        "builds",
        "profiles",
        "profiles_left",
        "bytes_before",
        "bytes_after",
        "fits",
        "in_place",
        "kept_by_tag",
    ];
    expected.sort_unstable();
    assert_eq!(fields(&prune), expected);
    let build = ["executable", "profiles", "profiles_left", "version"];
    assert_eq!(fields(&prune["builds"][0]), build);
    assert_eq!(prune["fits"], Value::Null);

    let size = || sandbox.path("store/store.redb").metadata().unwrap().len();
    let before = size();
    let compact = sandbox.json(&["compact"]);
    let expected = json!({
        "schema": "sto.compact/1", "bytes_before": before, "bytes_after": size(),
    });
    assert_eq!(compact, expected);

    let export = sandbox.json(&["export-store", "v1", "-o", "v1.sto"]);
    let bytes = sandbox.path("v1.sto").metadata().unwrap().len();
    let expected = json!({
        "schema": "sto.export-store/1", "path": "v1.sto", "profiles": 1, "bytes": bytes,
    });
    assert_eq!(export, expected);
}

#[test]
fn exported_file_is_a_store_of_the_selected_profiles() {
    let sandbox = sandbox();
    let text = sandbox
        .sto(&["export-store", "v1", "v3", "v3", "-o", "two.sto"])
        .succeeds();
    assert!(
        text.stdout.starts_with("wrote 2 profiles to two.sto ("),
        "{text:?}"
    );
    sandbox.sto(&["export-store", "-o", "all.sto"]).succeeds();
    for (file, builds) in [
        ("two.sto", &["v1", "v3"][..]),
        ("all.sto", &["v1", "v2", "v3", HOSTILE]),
    ] {
        let bytes = std::fs::read(sandbox.path(file)).unwrap();
        sandbox.write("copy/store.redb", bytes);
        let mut found = gone(&sandbox.json(&["ls", "--store", "copy"]));
        let mut builds = builds.to_vec();
        found.sort_unstable();
        builds.sort_unstable();
        assert_eq!(found, builds);
        let of = |store| {
            sandbox
                .sto(&["top", "v1", "--store", store])
                .succeeds()
                .stdout
        };
        assert_eq!(of("copy"), of("store"));
    }
    let mine = sandbox.write("mine", BEFORE);
    let export = ["export-store", "-o", "mine"];
    sandbox
        .sto(&export)
        .fails_with(&["cannot make mine", "exists"]);
    assert_eq!(std::fs::read_to_string(mine).unwrap(), BEFORE);
    for parent in ["missing/x.sto", "a.folded/x.sto"] {
        sandbox
            .sto(&["export-store", "-o", parent])
            .fails_with(&["cannot ", parent]);
    }
}

#[test]
fn invalid_arguments_change_nothing() {
    let sandbox = sandbox();
    let before = sandbox.store_bytes();
    for (arguments, part) in [
        (&["prune"][..], "required"),
        (&["prune", "--dry-run"], "required"),
        (&["prune", "--keep", "v1"], "required"),
        (&["prune", "--older-than", "soon"], "soon"),
        (&["prune", "--older-than", "-1d"], "-1"),
        (&["prune", "--keep-last", "few"], "few"),
        (&["prune", "--keep-last", "-1"], "-1"),
        (&["prune", "--max-size", "much"], "much"),
        (&["prune", "--label", "branch"], "KEY=VALUE"),
        (&["prune", "--group-by", "branch"], "--keep-last"),
        (&["prune", "--keep-last", "0", "--keep", "v9"], "v9"),
        (&["compact", "now"], "now"),
        (&["export-store"], "--output"),
        (&["export-store", "v9", "-o", "x.sto"], "v9"),
    ] {
        let run = sandbox.sto(arguments);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(
            run.stdout.is_empty() && run.stderr.contains(part),
            "{run:?}"
        );
        assert_eq!(sandbox.store_bytes(), before, "{arguments:?}");
    }
    assert!(!sandbox.path("x.sto").exists());
    let nowhere = ["prune", "--keep-last", "1", "--store", "nowhere"];
    for command in [&nowhere[..], &["compact", "--store", "nowhere"]] {
        sandbox
            .sto(command)
            .fails_with(&["there is no store in nowhere"]);
    }
    assert!(!sandbox.path("nowhere").exists());
}

#[test]
fn hostile_names_fit_80_columns() {
    let sandbox = sandbox();
    let prune = ["prune", "--keep-last", "0", "--dry-run"];
    let run = Run::new(sandbox.command(&prune).env("COLUMNS", "80")).succeeds();
    assert_eq!(run.stdout.lines().count(), 4 + 2, "{run:?}");
    for line in run.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(
            !line.chars().any(|c| c.is_control() || c == '\u{202e}'),
            "{line:?}"
        );
    }
    let name = "\u{1b}[31mred.sto";
    let run = sandbox.sto(&["export-store", "-o", name]).succeeds();
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
}
