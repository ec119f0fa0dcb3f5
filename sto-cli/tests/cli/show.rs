//! `sto show`.

use crate::support::Sandbox;

const POOR: &str = "main;work 70\nmain;[libx.so.1+0x12] 20\nmain;[unknown] 10\n";

#[test]
fn shows_the_quality_of_a_stored_profile() {
    let sandbox = Sandbox::new();
    let text = "p 1 1.0: 1 cycles:\n\t1 f (/x)\n\t2 main (/x)\n\nswapper 0 2.0: PERF_RECORD_LOST lost 3\n\
                p 1 2.0: 1 cycles:\n\tffffffff81000000 [unknown] ([kernel.kallsyms])\n\t2 main (/x)\n\n\
                p 1 3.0: 1 cycles:\n\t12 [unknown] (/lib/liby.so.2)\n\t2 main (/x)\n\n";
    sandbox.write("a.txt", text);
    let ingest = ["ingest", "a.txt", "--build", "v1", "--label", "cpu=7950x"];
    sandbox.sto(&ingest).succeeds();
    let report = sandbox.json(&["show", "v1"]);
    assert_eq!(report["schema"], "sto.show/1");
    assert_eq!(report["executable"], "p");
    let profile = &report["profiles"][0];
    assert_eq!(profile["format"], "perf script");
    assert_eq!(profile["samples"], 3);
    assert_eq!(profile["unresolved_samples"], 2);
    assert_eq!(profile["lost_events"], 3);
    assert_eq!(profile["origin"]["duration_ns"], 2_000_000_000);
    let unresolved = profile["unresolved"].as_array().unwrap();
    let modules: Vec<_> = unresolved.iter().map(|found| &found["module"]).collect();
    assert_eq!(modules, ["[kernel]", "liby.so.2"]);

    let id = profile["id"].as_str().unwrap();
    let run = sandbox.sto(&["show", &id[..8]]).succeeds();
    for expected in [
        "p@v1: profile",
        "duration 2.00 s",
        "cpu=7950x",
        "3 samples of cycles",
        " 66.67%            2  unresolved",
        " 50.00%            3  lost",
        "1 in [kernel]\n      ingest as root",
    ] {
        assert!(
            run.stdout.contains(expected),
            "{expected} in {}",
            run.stdout
        );
    }
}

#[test]
fn shows_a_file_without_a_store() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", POOR);
    let run = sandbox.sto(&["show", "./a.folded"]).succeeds();
    assert!(
        run.stdout.contains(" 30.00%           30  unresolved"),
        "{run:?}"
    );
    let advised = "30 in no module\n      the profiler had no name for these\n";
    assert!(run.stdout.contains(advised), "{run:?}");
    assert!(!sandbox.path("store").exists());
}

#[test]
fn shows_every_profile_of_a_build() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", POOR);
    sandbox.write("b.folded", "main;work 5\n");
    sandbox
        .sto(&[
            "ingest", "a.folded", "b.folded", "--build", "v1", "--exe", "x",
        ])
        .succeeds();
    let report = sandbox.json(&["show", "v1"]);
    let samples = report["profiles"].as_array().unwrap().iter();
    let mut samples: Vec<_> = samples
        .map(|profile| profile["samples"].as_u64().unwrap())
        .collect();
    samples.sort();
    assert_eq!(samples, [5, 100]);
}
