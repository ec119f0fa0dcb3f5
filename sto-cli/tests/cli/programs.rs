//! Output about real programs in a terminal of 80 columns.

use crate::support::{Run, Sandbox, repository};
use sto_test_support::assert_golden;

/// The programs and two builds of each.
const PROGRAMS: [(&str, &str, [&str; 2]); 8] = [
    ("ripgrep", "rg", ["13.0.0", "14.1.1"]),
    ("fd", "fd", ["8.7.1", "10.2.0"]),
    ("spirit", "mini_xml", ["v1", "v2"]),
    ("go", "gofmt", ["v1", "v2"]),
    ("node", "node", ["v1", "v2"]),
    ("python", "python3.13", ["3.3.7", "3.7"]),
    ("java-perf", "javac", ["17", "25"]),
    ("java-jfr", "javac-jfr", ["17", "25"]),
];

#[test]
fn output_about_real_programs_matches_golden_files() {
    let folder = repository().join("testdata/programs");
    let sandbox = Sandbox::new();
    let store = std::fs::read(folder.join("programs.sto")).unwrap();
    sandbox.write("store/store.redb", store);
    for (name, program, [before, after]) in PROGRAMS {
        let [before, after] = [before, after].map(|build| format!("{program}@{build}"));
        let commands: [&[&str]; 3] = [
            &["top", &after],
            &["tree", &after],
            &["find-regressions", &before, &after],
        ];
        let mut shown = String::new();
        for command in commands {
            let run = Run::new(sandbox.command(command).env("COLUMNS", "80"));
            let widest = run.stdout.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{run:?}");
            shown += &format!(
                "$ sto {}\n{}{}\n",
                command.join(" "),
                run.stdout,
                run.stderr
            );
        }
        assert_golden(&folder.join(format!("{name}.txt")), &shown);
    }
}
