//! `sto hot` and `sto blame`, and editors that read their output.

use crate::commits::Repository;
use crate::support::{Run, Sandbox};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use sto_test_support::{missing, skip};

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo")
}

fn source() -> String {
    fs::read_to_string(demo().join("demo.c")).unwrap()
}

/// Writes a file with a modification time before the recordings.
fn write_old(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.write(name, text);
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

fn ingest(sandbox: &Sandbox, build: &str) {
    let recording = demo().join(format!("{build}.perf.data"));
    let recording = recording.to_str().unwrap();
    let ingest = ["ingest", recording, "--exe", "demo", "--build", build];
    sandbox.sto(&ingest).succeeds();
}

/// A sandbox whose store has the demo, with its source in `src`.
pub(crate) fn with_demo() -> Sandbox {
    let sandbox = Sandbox::new();
    ingest(&sandbox, "v1");
    write_old(&sandbox, "src/demo.c", &source());
    sandbox
}

fn in_columns(sandbox: &Sandbox, args: &[&str], columns: usize) -> String {
    let mut command = sandbox.command(args);
    let run = Run::new(command.env("COLUMNS", columns.to_string()));
    run.succeeds().stdout
}

#[test]
fn lists_the_most_expensive_lines_first_and_notes_on_standard_error() {
    let sandbox = with_demo();
    let run = sandbox.sto(&["hot", "-n", "3"]).succeeds();
    assert_eq!(
        run.stdout,
        "\
src/demo.c:154: 26.5 % self, 26.7 % total: while (right + length < end && left[length] == right[length])
src/demo.c:139: 21.1 % self, 21.1 % total: sum = sum * 31 + left[row][i] * right[i][column];
src/demo.c:138: 7 % self, 7 % total: for (int i = 0; i < SIDE; i++)
"
    );
    let note = "note: costs of demo@v1 in 1 profile; 27 more lines not shown\n";
    assert_eq!(run.stderr, note);
    let by_total = sandbox
        .sto(&["hot", "--by", "total", "-n", "1"])
        .succeeds()
        .stdout;
    assert_eq!(
        by_total,
        "src/demo.c:265: 0 % self, 97.4 % total: sum += serve(server);\n"
    );
    let large = sandbox.json(&["hot", "--min-share", "25"]);
    let large = large["spots"].as_array().unwrap();
    let share = |spot: &Value| spot["total"]["share"].as_f64().unwrap();
    assert!(large.iter().all(|spot| share(spot) >= 0.25), "{large:?}");
    assert_eq!(large.len(), 4, "{large:?}");
    for width in [30, 80] {
        let shown = in_columns(&sandbox, &["hot"], width);
        let longest = shown.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width.max(46)), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}

#[test]
fn paths_begin_like_the_users_argument() {
    let sandbox = with_demo();
    for (named, shown) in [
        ("src", "src/demo.c:154: "),
        ("./src/", "./src/demo.c:154: "),
        ("src/../src/demo.c", "src/../src/demo.c:154: "),
    ] {
        let run = sandbox.sto(&["hot", named]).succeeds();
        assert!(run.stdout.starts_with(shown), "{run:?}");
    }
    let mut below = sandbox.command(&["hot", "../src"]);
    fs::create_dir(sandbox.path("docs")).unwrap();
    let run = Run::new(below.current_dir(sandbox.path("docs"))).succeeds();
    assert!(run.stdout.starts_with("../src/demo.c:154: "), "{run:?}");
    let whole = sandbox.path("src");
    let run = sandbox.sto(&["hot", whole.to_str().unwrap()]).succeeds();
    let path = whole.join("demo.c").display().to_string();
    assert!(run.stdout.starts_with(&path), "{run:?}");
    let nothing = sandbox.sto(&["hot", "docs"]);
    assert_eq!((nothing.status, &*nothing.stdout), (Some(3), ""));
    assert!(
        nothing.stderr.contains("demo@v1 has no costs here"),
        "{nothing:?}"
    );
    sandbox
        .sto(&["hot", "nosuch"])
        .fails_with(&["cannot read nosuch"]);
}

#[test]
fn asks_the_user_to_choose_between_ambiguous_files() {
    let sandbox = with_demo();
    write_old(&sandbox, "old/demo.c", &source());
    let run = sandbox.sto(&["hot"]);
    assert_eq!((run.status, &*run.stdout), (Some(3), ""));
    let warning =
        "warning: demo.c may be old/demo.c, src/demo.c: specify which one, or its folder\n";
    assert!(run.stderr.ends_with(warning), "{run:?}");
    for named in ["src", "src/demo.c"] {
        let run = sandbox.sto(&["hot", named]).succeeds();
        assert!(run.stdout.starts_with("src/demo.c:154: "), "{run:?}");
    }
    let blamed = sandbox.json(&["blame", "old/demo.c"]);
    assert_eq!(blamed["files"][0], "demo.c");
}

#[test]
fn costs_follow_edits_since_the_commit_of_a_build() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let sandbox = &repository.sandbox;
    sandbox.write("src/demo.c", source());
    repository.commit("One");
    repository.git(&["tag", "first"]);
    ingest(sandbox, "v1");
    sandbox.write("src/demo.c", format!("// moved\n{}", source()));
    repository.commit("Two");
    sandbox.write(
        "src/demo.c",
        format!("\n\n\n{}", source()).replace("sum = sum * 31", "sum = sum * 37"),
    );
    let shown = sandbox.sto(&["hot"]).succeeds().stdout;
    assert!(shown.starts_with("src/demo.c:157: 26.5 % self"), "{shown}");
    assert!(!shown.contains("sum * 3"), "it was edited: {shown}");
    // The second build has the same lines and costs.
    repository.git(&["checkout", "-q", "--force", "main"]);
    ingest(sandbox, "v2");
    let line = |report: &Value| {
        let lines = report["lines"].as_array().unwrap();
        lines.iter().find(|line| line["line"] == 226).cloned()
    };
    let alone = sandbox.json(&["blame", "src/demo.c", "--build", "v1"]);
    let since = sandbox.json(&["blame", "src/demo.c", "--since", "first"]);
    let (alone, since) = (line(&alone).unwrap(), line(&since).unwrap());
    assert_eq!(since["source"], "\tdoLogging(server, &request);");
    assert_eq!(since["was"]["total"], alone["total"]);
    let again = sandbox.json(&["blame", "src/demo.c", "--since", "v1"]);
    assert_eq!(line(&again).unwrap(), since);
    sandbox
        .sto(&["blame", "src/demo.c", "--since", "nosuch"])
        .fails_with(&["`nosuch`"]);
}

#[test]
fn lists_functions_if_the_built_source_is_unknown() {
    let sandbox = with_demo();
    let future = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    let file = File::options().write(true).open(sandbox.path("src/demo.c"));
    file.unwrap().set_modified(future).unwrap();
    let run = sandbox.sto(&["hot", "-n", "1"]).succeeds();
    assert_eq!(
        run.stdout,
        "src/demo.c:151: 32.4 % self, 32.5 % total of match_length\n"
    );
    let note = "note: src/demo.c: the content at build time is unknown, so functions are listed instead of lines\n";
    assert!(run.stderr.ends_with(note), "{run:?}");
    let blamed = sandbox.sto(&["blame", "src/demo.c"]).succeeds().stdout;
    assert!(
        blamed.contains("\nwarning: the content of this file at build time is unknown"),
        "{blamed}"
    );
    let function = "\n                         match_length: 32.4 % self · 32.5 % total\n                    151  static ";
    assert!(blamed.contains(function), "{blamed}");
}

/// A program that spends nearly all of its short run time in line 5.
const SPIN: &str = "\
static unsigned long spin(void)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 100000000; i++)
        sum += i * i;
    return sum;
}

int main(void) { return spin() & 1; }
";

/// A sandbox whose store has a profile of [`SPIN`], compiled by clang in `src`, so that the debug information has the
/// source's digest. `None` if clang or perf cannot be used.
fn with_digest() -> Option<Sandbox> {
    if missing(&["clang", "perf"]) {
        return None;
    }
    let sandbox = Sandbox::new();
    write_old(&sandbox, "src/spin.c", SPIN);
    let mut clang = sandbox.program("clang", &["-gdwarf-5", "-O1", "spin.c", "-o", "../spin"]);
    // The path in the debug information is then relative, without a folder.
    clang.current_dir(sandbox.path("src"));
    assert!(clang.status().unwrap().success());
    let run = sandbox.sto(&["record", "--exe", "spin", "--build", "v1", "--", "./spin"]);
    if run.stderr.contains("perf cannot record") {
        skip("perf may not record here");
        return None;
    }
    Some(sandbox)
}

/// Changes the source file, with an old modification time as after unpacking an archive.
fn edit(sandbox: &Sandbox) {
    write_old(sandbox, "src/spin.c", &format!("\n{SPIN}"));
}

fn hottest(sandbox: &Sandbox, store: &str) -> String {
    let run = sandbox
        .sto(&["--store", store, "hot", "-n", "1"])
        .succeeds();
    run.stdout
}

#[test]
fn digest_identifies_built_source_regardless_of_its_time() {
    let Some(sandbox) = with_digest() else { return };
    let stores = ["store", "merged", "exported.sto", "imported"];
    for args in [
        &["--store", "merged", "merge", "store"][..],
        &["export-store", "-o", "exported.sto"],
        &["export", "--format", "parquet", "-o", "lake"],
        &["--store", "imported", "import-parquet", "lake"],
    ] {
        sandbox.sto(args).succeeds();
    }
    let future = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    let file = File::options().write(true).open(sandbox.path("src/spin.c"));
    file.unwrap().set_modified(future).unwrap();
    for store in stores {
        let line = hottest(&sandbox, store);
        assert!(
            ["src/spin.c:4: ", "src/spin.c:5: "]
                .iter()
                .any(|at| line.starts_with(at)),
            "{store}: {line}"
        );
        sandbox.sto(&["--store", store, "verify"]).succeeds();
    }
    edit(&sandbox);
    for store in stores {
        let function = hottest(&sandbox, store);
        assert!(
            function.starts_with("src/spin.c:2: ") && function.ends_with("of spin\n"),
            "{store}: {function}"
        );
    }
    // Pruning the profile also removes its digests.
    sandbox.sto(&["prune", "spin@v1"]).succeeds();
    sandbox.sto(&["verify"]).succeeds();
}

#[test]
fn chooses_the_file_with_the_matching_digest() {
    let Some(sandbox) = with_digest() else { return };
    write_old(&sandbox, "old/spin.c", &format!("\n{SPIN}"));
    let line = hottest(&sandbox, "store");
    assert!(line.starts_with("src/spin.c:"), "{line}");
    write_old(&sandbox, "src/spin.c", &format!("\n\n{SPIN}"));
    let run = sandbox.sto(&["hot"]);
    assert!(
        run.stderr.contains("may be old/spin.c, src/spin.c"),
        "{run:?}"
    );
}

#[test]
fn shows_a_whole_file_with_costs_of_lines_and_functions() {
    let sandbox = with_demo();
    let shown = in_columns(&sandbox, &["blame", "src/demo.c"], 80);
    let head = "\
demo@v1: 2,716 samples of cpu-clock (2.72 s) in 1 profile

src/demo.c
    self    total  line  source
                      1  /* A server that answers made-up requests, to be profi…
";
    assert!(shown.starts_with(head), "{shown}");
    let function = "
                         count_rules: 12.4 % self · 12.5 % total
                    123  static NOINLINE uint32_t count_rules(const struct rule…
   2.32%    2.32%   124  {
   2.80%    2.80%   125      if (!rule)
                    126          return 0;
";
    assert!(shown.contains(function), "{shown}");
    let lines = shown.lines().filter(|line| !line.contains(" · ")).count();
    assert_eq!(lines, 4 + source().lines().count());
    assert!(shown.lines().all(|line| line.chars().count() <= 80));
    let empty = sandbox.write("src/other.c", "int x;\n");
    let run = sandbox.sto(&["blame", empty.to_str().unwrap()]);
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(
        run.stdout
            .ends_with("Nothing in this file has a cost in demo@v1.\n"),
        "{run:?}"
    );
    sandbox
        .sto(&["blame", "src"])
        .fails_with(&["cannot read src"]);
}

#[test]
fn marks_changed_functions_and_shows_earlier_costs_of_lines() {
    let sandbox = with_demo();
    ingest(&sandbox, "v2");
    let args = ["blame", "src/demo.c", "--build", "demo@v2", "--since", "v1"];
    let shown = in_columns(&sandbox, &args, 80);
    let head = "
Since demo@v1 (1 profile): `×` marks functions whose total grew or shrank so
much, by more than chance, and `new` those that had no cost; `was` is the total
of a line then, which is not tested.
";
    assert!(shown.contains(head), "{shown}");
    let changed = "
                                  doLogging: 0.1 % self · 42.5 % total · ×9.6
                             198  static NOINLINE void doLogging(const struct s…
";
    assert!(shown.contains(changed), "{shown}");
    let unchanged = "
                                  find_user: 1.2 % self · 1.3 % total
                             114  static NOINLINE struct user *find_user(struct…
   0.02%    0.02%    0.04%   115  {
";
    assert!(shown.contains(unchanged), "{shown}");
    assert!(
        shown.contains("   42.61%    7.33%   225      doLogging("),
        "{shown}"
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn control_characters_in_source_are_not_printed() {
    let sandbox = with_demo();
    let hostile = source().replace("length++;", "length\t++; // \u{1b}[2J \u{202e}");
    write_old(&sandbox, "src/demo.c", &hostile);
    for args in [&["hot"][..], &["blame", "src/demo.c"]] {
        let shown = sandbox.sto(args).succeeds().stdout;
        assert!(
            !shown.contains(['\u{1b}', '\u{202e}', '\t']),
            "{args:?}: {shown}"
        );
        assert!(
            shown.contains(r"++; // \u{1b}[2J \u{202e}"),
            "{args:?}: {shown}"
        );
    }
}

/// Checks the locations and texts, including notes, that an editor finds in the output of `sto hot`.
fn assert_places(sandbox: &Sandbox, found: &str) {
    let spots = sandbox.json(&["hot"]);
    let spots = spots["spots"].as_array().unwrap();
    let expected = spots.iter().map(|spot| {
        let path = spot["path"].as_str().unwrap();
        format!("{path} {}\n", spot["line"])
    });
    let expected: String = expected.collect();
    assert!(expected.lines().count() > 20, "{expected}");
    assert_eq!(found, expected);
}

#[test]
fn vim_reads_output_as_quickfix_list() {
    if missing(&["nvim"]) {
        return;
    }
    let sandbox = with_demo();
    let run = sandbox.sto(&["hot"]).succeeds();
    sandbox.write("out", run.stdout + &run.stderr);
    let list = "let found = filter(getqflist(), 'v:val.valid')";
    let lines = "map(found, 'bufname(v:val.bufnr) .. \" \" .. v:val.lnum')";
    let write = format!("call writefile({lines}, 'found')");
    let args = ["--headless", "-u", "NONE", "-i", "NONE", "-n"];
    let commands = ["-c", "cfile out", "-c", list, "-c", &write, "-c", "qa!"];
    let run = Run::new(&mut sandbox.program("nvim", &[&args[..], &commands].concat()));
    let found = fs::read_to_string(sandbox.path("found"));
    assert_places(
        &sandbox,
        &found.unwrap_or_else(|error| panic!("{error}: {run:?}")),
    );
}

#[test]
fn emacs_reads_output_as_compilation() {
    if missing(&["emacs"]) {
        return;
    }
    let sandbox = with_demo();
    let walk = r#"(progn
      (compile (concat (getenv "STO") " hot"))
      (set-buffer "*compilation*")
      (while (get-buffer-process (current-buffer)) (accept-process-output nil 0.1))
      (compilation--ensure-parse (point-max))
      (goto-char (point-min))
      (while (not (eobp))
        (when-let* ((found (get-text-property (point) 'compilation-message))
                    (loc (compilation--message->loc found))
                    (file (caar (compilation--loc->file-struct loc))))
          (princ (format "%s %d\n" file (compilation--loc->line loc))))
        (forward-line)))"#;
    let args = [
        "--batch", "-Q", "-l", "subr-x", "-l", "compile", "--eval", walk,
    ];
    let mut emacs = sandbox.program("emacs", &args);
    emacs
        .env("STO", env!("CARGO_BIN_EXE_sto"))
        .env("STO_STORE", sandbox.path("store"))
        .env("PAGER", "sed s/^/paged:/")
        .env("TERM", "xterm");
    assert_places(&sandbox, &Run::new(&mut emacs).succeeds().stdout);
}
