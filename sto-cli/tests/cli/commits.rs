//! Commits of builds, in a real repository.

use crate::support::{BEFORE, Run, Sandbox};
use serde_json::{Value, json};
use sto_test_support::missing;

/// A git repository whose commits are a day apart.
pub(crate) struct Repository {
    pub(crate) sandbox: Sandbox,
    days: std::cell::Cell<u64>,
}

impl Repository {
    /// Returns `None` if git is missing.
    pub(crate) fn new() -> Option<Repository> {
        if missing(&["git"]) {
            return None;
        }
        let repository = Repository {
            sandbox: Sandbox::new(),
            days: std::cell::Cell::new(0),
        };
        repository.git(&["init", "-q", "-b", "main"]);
        let ignored = "/store\n/home\n*.folded\n*.redb\n";
        repository.sandbox.write(".git/info/exclude", ignored);
        Some(repository)
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=u", "-c", "user.email=u@example.org"];
        let date = format!("{} +0100", 1_700_000_000 + self.days.get() * 86_400);
        let mut git = self
            .sandbox
            .program("git", &[&identity, arguments].concat());
        git.env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date);
        Run::new(&mut git).succeeds().stdout.trim().to_owned()
    }

    /// Commits all changes and returns the commit's id.
    pub(crate) fn commit(&self, subject: &str) -> String {
        self.days.set(self.days.get() + 1);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn ingest(&self, build: &str, more: &[&str]) -> Run {
        let file = format!("{build}{}.folded", more.len());
        self.sandbox
            .write(&file, format!("{BEFORE}main;{file} 1\n"));
        let ingest = ["ingest", &file, "--build", build, "--exe", "demo"];
        self.sandbox.sto(&[&ingest, more].concat())
    }

    fn build(&self, selector: &str) -> Value {
        self.sandbox.json(&["show", selector])
    }
}

#[test]
fn stores_commit_parents_author_time_and_subject_of_a_build() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let first = repository.commit("One");
    repository.git(&["checkout", "-q", "-b", "side"]);
    let side = repository.commit("Two\nlines\n\nand a body");
    repository.git(&["checkout", "-q", "main"]);
    let second = repository.commit("Three \u{1b}[31m");
    repository.git(&["merge", "-q", "--no-ff", "-m", "Merge", "side"]);
    let merge = repository.git(&["rev-parse", "HEAD"]);
    repository.ingest("merged", &[]).succeeds();
    let commit = &repository.build("merged")["commit"];
    let expected = json!({
        "hash": merge, "parents": [second, side], "author_time": "2023-11-17T22:13:20Z",
        "subject": "Merge", "dirty": false,
    });
    assert_eq!(*commit, expected);
    // A build of another commit than the work tree's, and one with uncommitted changes.
    repository
        .ingest("aside", &["--revision", "side"])
        .succeeds();
    let shown = repository
        .sandbox
        .sto(&["show", "git:side"])
        .succeeds()
        .stdout;
    let line = format!(
        "  commit {} of 2023-11-16T22:13:20Z: Two lines\n",
        &side[..12]
    );
    assert!(shown.contains(&line), "{shown}");
    repository.sandbox.write("source", "1");
    let third = repository.commit("Four");
    repository.sandbox.write("source", "2");
    repository.ingest("changed", &[]).succeeds();
    let commit = &repository.build("changed")["commit"];
    assert_eq!(
        (&commit["hash"], &commit["dirty"]),
        (&json!(third), &json!(true))
    );
    assert_eq!(repository.build("git:main~1")["version"], "merged");
    assert_eq!(
        repository.build(&format!("git:{}", &merge[..7]))["version"],
        "merged"
    );
    // Control characters in a subject are escaped.
    repository
        .ingest("red", &["--revision", &second])
        .succeeds();
    let shown = repository.sandbox.sto(&["show", "red"]).succeeds().stdout;
    assert!(
        shown.contains("Three") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    // The commit stays after its tag or branch is gone, and in other stores.
    repository
        .sandbox
        .sto(&["export-store", "merged", "--output", "part.redb"])
        .succeeds();
    let other = repository
        .sandbox
        .json(&["show", "merged", "--store", "part.redb"]);
    assert_eq!(other["commit"], expected);
    let show = ["show", &format!("git:{first}")];
    repository
        .sandbox
        .sto(&show)
        .fails_with(&["no build is of", &first[..12]]);
}

/// Builds are named by their bytes, so a program that two commits do not change is one build.
#[test]
fn distinguishes_runs_of_one_build_by_their_commits() {
    let Some(repository) = Repository::new() else {
        return;
    };
    repository.commit("One");
    repository.ingest("same", &[]).succeeds();
    repository.commit("Two");
    repository.ingest("same", &["--label", "k=v"]).succeeds();
    for (revision, subject) in [("HEAD", "Two"), ("HEAD~1", "One")] {
        let build = repository.build(&format!("git:{revision}"));
        assert_eq!(build["commit"]["subject"], subject);
        assert_eq!(build["profiles"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(
        repository.build("same")["profiles"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

#[test]
fn stores_runs_even_if_git_fails() {
    let Some(repository) = Repository::new() else {
        return;
    };
    // Nothing is committed yet.
    repository.ingest("unborn", &[]).succeeds();
    assert_eq!(repository.build("unborn")["commit"], Value::Null);
    let run = repository
        .ingest("elsewhere", &["--revision", "r1841"])
        .succeeds();
    assert!(
        run.stderr.contains("git knows no revision `r1841` here"),
        "{run:?}"
    );
    assert_eq!(repository.build("elsewhere")["revision"], "r1841");
    let first = repository.commit("One");
    let second = repository.commit("Two");
    repository.git(&["checkout", "-q", "--detach"]);
    let clone = [
        "clone",
        "-q",
        "--depth",
        "1",
        "file:///proc/self/cwd/.git",
        "home/shallow",
    ];
    repository.git(&clone);
    let sandbox = &repository.sandbox;
    let file = sandbox.write("shallow.folded", format!("{BEFORE}main;shallow 1\n"));
    let ingest = [
        "ingest",
        file.to_str().unwrap(),
        "--build",
        "shallow",
        "--exe",
        "demo",
    ];
    Run::new(
        sandbox
            .command(&ingest)
            .current_dir(sandbox.path("home/shallow")),
    )
    .succeeds();
    let commit = &repository.build("shallow")["commit"];
    assert_eq!(
        (&commit["hash"], &commit["parents"]),
        (&json!(second), &json!([first]))
    );
    // Without git.
    let ingest = [
        "ingest",
        "unborn0.folded",
        "--build",
        "none",
        "--exe",
        "demo",
    ];
    Run::new(sandbox.command(&ingest).env("PATH", sandbox.path("home"))).succeeds();
    assert_eq!(repository.build("none")["revision"], Value::Null);
}

#[test]
fn a_range_selects_all_builds_of_its_commits() {
    let Some(repository) = Repository::new() else {
        return;
    };
    for name in ["one", "two", "three", "four"] {
        repository.commit(name);
        repository.git(&["tag", name]);
        if name != "three" {
            repository.ingest(name, &[]).succeeds();
        }
    }
    let sandbox = &repository.sandbox;
    let export = |range: &str, file: &str| {
        let export = ["export-store", range, "--output", file];
        sandbox.sto(&export)
    };
    for (range, expected) in [
        ("git:one..HEAD", &["four", "two"][..]),
        ("demo@git:one..four", &["four", "two"]),
        ("git:two..", &["four"]),
        ("git:four~3..two", &["two"]),
    ] {
        let file = format!("{}.redb", range.replace(['~', '.', ':', '@'], "_"));
        export(range, &file).succeeds();
        let listed = sandbox.json(&["ls", "--store", &file]);
        let builds = listed["builds"].as_array().unwrap().iter();
        let mut builds: Vec<&str> = builds.map(|b| b["version"].as_str().unwrap()).collect();
        builds.sort_unstable();
        assert_eq!(builds, expected, "{range}");
    }
    let potential = sandbox.sto(&["potential", "git:one..HEAD"]).succeeds();
    for build in ["demo@two: 10,001 samples", "demo@four: 10,001 samples"] {
        assert!(potential.stdout.contains(build), "{potential:?}");
    }
    // `show` accepts a range with a single build.
    assert_eq!(repository.build("git:two..HEAD")["version"], "four");
    let show = |range: &str| sandbox.sto(&["show", range]);
    show("git:one..HEAD").fails_with(&["several builds are of commits in `one..HEAD`", "demo@two"]);
    show("git:two..three")
        .fails_with(&["no build is of a commit in `two..three`, which has 1 commit"]);
    show("git:four..two").fails_with(&["which has 0 commits"]);
    show("git:one..nowhere").fails_with(&["git knows no range of commits `one..nowhere` here"]);
    show("git:--all..HEAD").fails_with(&["git knows no range of commits"]);
    // Rows of a table can also name runs by ranges.
    let table = sandbox.write("metrics.csv", "build,ms\ngit:HEAD~2,5\ngit:two..HEAD,7\n");
    let annotate = ["annotate", table.to_str().unwrap()];
    sandbox.sto(&annotate).succeeds();
    let metric = |build: &str| repository.build(build)["profiles"][0]["metrics"]["ms"].clone();
    assert_eq!((metric("two"), metric("four")), (json!(5.0), json!(7.0)));
}
