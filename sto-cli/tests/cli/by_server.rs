//! Checks that a server makes, and servers that exchange profiles.

use crate::support::{Run, Sandbox};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// A running `sto serve`, which ends with this value.
pub(crate) struct Served {
    process: Child,
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn start(sandbox: &Sandbox, args: &[&str]) -> Served {
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let mut command = sandbox.command(&[&serve, args].concat());
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(process.stderr.take().unwrap());
        let url = stderr.lines().find_map(|line| {
            let line = line.unwrap();
            let url = &line[line.find("http://")?..];
            let end = url.find(|c: char| c.is_whitespace()).unwrap_or(url.len());
            Some(url[..end].trim_end_matches('/').to_owned())
        });
        Served {
            process,
            url: url.expect("an address"),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Removes the parts that differ between a server and the local store: its address, and commands that need the store.
fn without_server(output: &str, url: &str) -> String {
    let server = format!(" --server {url}");
    let link = format!("{url}/compare?");
    let differs = |line: &&str| {
        [&*link, "sto diff", "\"command\":"]
            .iter()
            .any(|part| line.contains(part))
    };
    let lines = output.lines().filter(|line| !differs(line));
    let lines: Vec<String> = lines.map(|line| line.replace(&server, "")).collect();
    let text = lines.join("\n").replace("\n\n```sh\n```", "");
    text.trim_end().to_owned()
}

#[test]
fn a_server_answers_like_the_local_store() {
    let local = Sandbox::with_two_builds();
    let served = Served::start(&local, &["--read-only"]);
    let elsewhere = Sandbox::new();
    for format in ["text", "json", "md", "github", "html", "junit", "sarif"] {
        for sides in [["v1", "v2"], ["v1", "v1"]] {
            let args = [&["find-regressions"][..], &sides, &["--format", format]].concat();
            let here = local.sto(&args);
            let there = elsewhere.sto(&[&args[..], &["--server", &served.url]].concat());
            assert_eq!(there.status, here.status, "{there:?}");
            assert_eq!(
                there.stdout.contains("doLogging"),
                here.stdout.contains("doLogging")
            );
            // The others have commands in the same lines as other text.
            if ["text", "json", "md"].contains(&format) {
                let [there, here] =
                    [there, here].map(|run| without_server(&run.stdout, &served.url));
                assert_eq!(there, here, "{format}");
            }
        }
    }
    assert!(!elsewhere.path("store").exists(), "no store is made");
}

#[test]
fn findings_for_people_link_to_the_page_of_the_comparison() {
    let local = Sandbox::with_two_builds();
    let served = Served::start(&local, &[]);
    let args = ["find-regressions", "v1", "v2", "--server", &served.url];
    for format in ["text", "md", "github"] {
        let run = local.sto(&[&args[..], &["--format", format]].concat());
        let link = format!("{}/compare?baseline=runs:", served.url);
        let found = run.stdout.find(&link).unwrap_or_else(|| panic!("{run:?}"));
        let id = &run.stdout[found + link.len()..][..32];
        assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    }
}

#[test]
fn policy_and_output_file_are_those_of_the_client() {
    let local = Sandbox::with_two_builds();
    let served = Served::start(&local, &[]);
    let elsewhere = Sandbox::new();
    elsewhere.write("sto.toml", "[thresholds]\nmin-effect = \"1000000%\"\n");
    let args = [
        "find-regressions",
        "v1",
        "v2",
        "--server",
        &served.url,
        "-o",
        "out.txt",
    ];
    let run = elsewhere.sto(&args);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains("wrote out.txt"), "{run:?}");
    assert!(
        std::fs::read_to_string(elsewhere.path("out.txt"))
            .unwrap()
            .contains("demo")
    );
}

#[test]
fn failures_of_a_server_are_explained() {
    let local = Sandbox::with_two_builds();
    let served = Served::start(&local, &[]);
    let check =
        |args: &[&str]| -> Run { local.sto(&[&["find-regressions", "v1"][..], args].concat()) };
    check(&["v7", "--server", &served.url]).fails_with(&[&served.url, "v7"]);
    check(&["v2", "--server", "example.com"]).fails_with(&["it is no server of sto"]);
    check(&["v2", "--server", "http://127.0.0.1:1"]).fails_with(&["http://127.0.0.1:1"]);
    let counts = ["v2", "--server", &served.url, "--counts", "x.parquet"];
    let refused = check(&counts);
    assert_eq!(refused.status, Some(2), "{refused:?}");
}

/// Sends a folded profile to a server, and returns the status.
fn send(served: &Served, build: &str, host: &str, folded: &str) -> u16 {
    let query = format!("program=shop&build={build}&label.host={host}");
    let url = format!("{}/api/v1/profiles?{query}", served.url);
    ureq::post(url).send(folded).unwrap().status().as_u16()
}

/// Returns the ids of all runs in a store.
fn runs(sandbox: &Sandbox) -> BTreeSet<String> {
    let list = sandbox.json(&["runs"]);
    let runs = list["runs"].as_array().unwrap().iter();
    runs.map(|run| run["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn edge_nodes_send_their_profiles_to_a_central_server() {
    let [a, b, central] = [Sandbox::new(), Sandbox::new(), Sandbox::new()];
    let nodes = [(&a, "a"), (&b, "b")];
    let [node_a, node_b, center] = [&a, &b, &central].map(|of| Served::start(of, &[]));
    // Equal recordings of a build would be one run.
    for (node, host, runs) in [(&node_a, "a", 0..3), (&node_b, "b", 3..6)] {
        for run in runs {
            let v1 = format!("main;work;compute {}\nmain;idle 900\n", 9000 + run);
            assert_eq!(send(node, "v1", host, &v1), 201);
            let v2 = format!(
                "main;work;compute {}\nmain;work;log 3000\nmain;idle 900\n",
                9000 + run
            );
            assert_eq!(send(node, "v2", host, &v2), 201);
        }
    }
    for (node, _) in nodes {
        node.sto(&["push", &center.url]).succeeds();
    }
    // A node that was away sends again: nothing is counted twice.
    a.sto(&["push", &center.url]).succeeds();
    let of_nodes: BTreeSet<String> = nodes.iter().flat_map(|(node, _)| runs(node)).collect();
    assert_eq!(of_nodes.len(), 12);
    assert_eq!(runs(&central), of_nodes);
    // Questions go to the central server, from anywhere.
    let run = Sandbox::new().sto(&["find-regressions", "v1", "v2", "--server", &center.url]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.contains("log"), "{run:?}");
    let labels = "%7Bservice_name%3D%22shop%22%2Chost%3D%22a%22%7D";
    let folded = format!("{}/api/v1/export/folded?labels={labels}", center.url);
    let folded = ureq::get(folded)
        .call()
        .unwrap()
        .body_mut()
        .read_to_string()
        .unwrap();
    assert!(folded.contains("main;work;log 9000\n"), "{folded}");
}
