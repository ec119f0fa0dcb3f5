//! `sto report`: the page of suspects of a run.

use crate::support::Sandbox;

/// A sandbox with five runs of `demo`; `parse` is slow in the last one.
pub(crate) fn with_history() -> Sandbox {
    let sandbox = Sandbox::new();
    for (run, parse) in [300, 310, 305, 298, 900].into_iter().enumerate() {
        let file = format!("{run}.folded");
        sandbox.write(&file, format!("main;parse {parse}\nmain;render 70{run}\n"));
        let build = format!("v{run}");
        let ingest = ["ingest", &file, "--exe", "demo", "--build", &build];
        sandbox.sto(&ingest).succeeds();
    }
    sandbox
}

#[test]
fn writes_page_and_prints_its_summary() {
    let sandbox = with_history();
    let listed = sandbox.json(&["runs"]);
    let mut runs = listed["runs"].as_array().unwrap().iter();
    let newest = runs.find(|run| run["build"] == "v4").unwrap();
    let newest = newest["id"].as_str().unwrap();
    let run = sandbox.sto(&["report", "--at", newest, "-o", "page.html"]);
    let output = run.succeeds().stdout;
    assert!(
        output.starts_with("2 functions far from expected: demo\n"),
        "{output}"
    );
    assert!(output.ends_with("\nwrote page.html\n"), "{output}");
    let page = std::fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));

    let piped = sandbox.sto(&["report", "--at", newest, "-o", "-"]);
    assert_eq!(piped.succeeds().stdout, page);
}

#[test]
fn commands_of_the_page_recreate_it_and_expand_suspects() {
    let sandbox = with_history();
    std::fs::rename(sandbox.path("store"), sandbox.path("my store")).unwrap();
    let args = [
        "--store",
        "my store",
        "report",
        "--min-score",
        "1",
        "-o",
        "-",
    ];
    let page = sandbox.sto(&args).succeeds().stdout;
    let listed = sandbox.json(&["runs", "--store", "my store", "-n", "1"]);
    let id = &listed["runs"][0]["id"].as_str().unwrap()[..12];
    let run = format!("--store 'my store' --exe demo --event samples --at {id}");
    for command in [
        format!("sto report {run} --min-score 1 -o report.html"),
        format!("sto expand {run} -- parse"),
    ] {
        assert!(page.contains(&command), "{command} in {page}");
    }
}

#[test]
fn no_page_is_written_without_runs() {
    let sandbox = with_history();
    for args in [
        &["--benchmark", "none"][..],
        &["--at", "zz"],
        &["--window", "0"],
        &["--min-score", "0"],
        &["--min-score", "nan"],
    ] {
        let run = sandbox.sto(&[&["report", "-o", "page.html"], args].concat());
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(!sandbox.path("page.html").exists());
    }
}
