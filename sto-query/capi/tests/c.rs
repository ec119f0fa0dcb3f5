//! Programs in C that use the installed library.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use sto_test_support::{assert_golden, missing};
use tempfile::TempDir;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];
const SANITIZERS: &str = "-fsanitize=address,undefined";
const COMPARED: [&str; 2] = ["testdata/demo/v1.perf.data", "testdata/demo/v2.perf.data"];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn repository() -> &'static Path {
    package().parent().unwrap().parent().unwrap()
}

/// Returns the folder of the libraries that cargo built with this test.
fn built() -> PathBuf {
    let folder = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    assert!(folder.join("libsto_capi.so").exists(), "{folder:?}");
    folder
}

/// Installs the library, and returns the prefix.
fn install() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
        let mut make = Command::new("make");
        make.arg("install").current_dir(package());
        run(make.env("BUILT", built()).env("PREFIX", &prefix));
        prefix
    })
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let printed = String::from_utf8(stdout).unwrap();
    let errors = String::from_utf8_lossy(&stderr);
    assert!(
        status.success(),
        "{command:?}: {status}\n{printed}\n{errors}"
    );
    printed
}

/// Returns what `pkg-config` prints about the installed library.
fn pkg_config(options: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(options).arg("sto");
    command.env("PKG_CONFIG_PATH", install().join("lib/pkgconfig"));
    run(&mut command)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Compiles a program with the installed library.
fn compile(compiler: &[&str], source: &str, link: &[String], program: &Path) {
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(WARNINGS);
    command.arg(package().join(source)).arg("-o").arg(program);
    run(command.args(link).current_dir(repository()));
}

/// Returns a command that runs a program with the installed shared library.
fn program(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(repository());
    command.env("LD_LIBRARY_PATH", install().join("lib"));
    command
}

fn shared() -> Vec<String> {
    pkg_config(&["--cflags", "--libs"])
}

fn archive() -> Vec<String> {
    let mut flags = pkg_config(&["--cflags", "--libs", "--static"]);
    for flag in &mut flags {
        *flag = flag.replace("-lsto", "-l:libsto.a");
    }
    flags
}

#[test]
fn header_is_made_from_the_functions() {
    let mut config = cbindgen::Config::from_file(package().join("cbindgen.toml")).unwrap();
    let rules = fs::read_to_string(package().join("src/rules.md")).unwrap();
    let rules = rules
        .lines()
        .map(|line| format!(" * {line}").trim_end().to_owned() + "\n");
    let header = config.header.take().unwrap_or_default();
    config.header = Some(header.replace(" * RULES\n", &rules.collect::<String>()));
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in ["calls.rs", "error.rs", "store.rs"] {
        builder = builder.with_src(package().join("src").join(source));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    assert_golden(
        &package().join("include/sto.h"),
        &String::from_utf8(header).unwrap(),
    );
}

#[test]
fn shared_library_exports_only_the_functions_of_the_header() {
    if missing(&["nm"]) {
        return;
    }
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only"])
        .arg(built().join("libsto_capi.so"));
    let exported = run(&mut nm);
    let exported = exported.lines().map(|line| line[19..].to_owned());
    // A dependency that only other crates of the workspace enable exports functions for C, too.
    let exported: BTreeSet<String> = exported
        .filter(|name| !name.starts_with("crc_fast_"))
        .collect();
    let header = fs::read_to_string(package().join("include/sto.h")).unwrap();
    let declared = header.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let is_function =
        |word: &&str| word.starts_with("sto_") && header.contains(&format!("{word}("));
    let declared: BTreeSet<String> = declared.filter(is_function).map(str::to_owned).collect();
    assert_eq!(exported, declared);
}

#[test]
fn interface_keeps_its_promises_under_sanitizers() {
    if missing(&["cc", "make", "pkg-config"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let api = folder.path().join("api");
    compile(
        &["cc", "-std=c11", "-g", "-pthread", SANITIZERS],
        "tests/api.c",
        &shared(),
        &api,
    );
    run(program(&api).arg(folder.path()));
}

#[test]
fn interface_keeps_its_promises_under_valgrind() {
    if missing(&["cc", "make", "pkg-config", "valgrind"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let api = folder.path().join("api");
    compile(
        &["cc", "-std=c11", "-g", "-pthread"],
        "tests/api.c",
        &shared(),
        &api,
    );
    let mut valgrind = program("valgrind".as_ref());
    valgrind.args([
        "--quiet",
        "--error-exitcode=1",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
        "--fair-sched=yes",
    ]);
    run(valgrind.arg(&api).arg(folder.path()));
}

#[test]
fn example_names_what_got_slower() {
    if missing(&["cc", "c++", "make", "pkg-config"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let c = &["cc", "-std=c11"][..];
    let compiled = [
        ("shared", c, shared()),
        ("sanitized", &["cc", "-std=c11", "-g", SANITIZERS], shared()),
        ("archive", c, archive()),
        (
            "static",
            &["cc", "-std=c11", "-static"],
            pkg_config(&["--cflags", "--libs", "--static"]),
        ),
        ("c++", &["c++", "-x", "c++", "-std=c++11"], shared()),
    ];
    for (name, compiler, link) in compiled {
        let top = folder.path().join(name);
        compile(compiler, "examples/top.c", &link, &top);
        let printed = run(program(&top).args(COMPARED));
        assert!(printed.contains("match_length"), "{name}: {printed}");
        assert!(
            printed.contains("\tdoLogging with what it calls costs 9.6 times as much"),
            "{name}: {printed}"
        );
    }
    let top = folder.path().join("shared");
    let failed = program(&top).arg("/missing.data").output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    let message = String::from_utf8(failed.stderr).unwrap();
    assert!(
        message.starts_with("top: cannot read /missing.data: "),
        "{message}"
    );
}

/// Runs the block of README.md, in a folder that has the files of a clone.
#[test]
fn commands_in_readme_name_what_got_slower() {
    if missing(&["cc", "make", "pkg-config"]) {
        return;
    }
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let section = readme.split("\n## In C\n").nth(1).unwrap();
    let commands = section
        .split("```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let clone = TempDir::new().unwrap();
    for name in ["testdata", "sto-query"] {
        std::os::unix::fs::symlink(repository().join(name), clone.path().join(name)).unwrap();
    }
    let mut shell = Command::new("sh");
    shell.args(["-euc", commands]).current_dir(clone.path());
    shell.env("HOME", clone.path()).env("BUILT", built());
    let printed = run(&mut shell);
    assert!(printed.contains("\tdoLogging\t"), "{printed}");
}

#[test]
fn pyarrow_reads_streams() {
    if missing(&["python3 pyarrow"]) {
        return;
    }
    let script = package().join("tests/read_stream.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(built().join("libsto_capi.so"));
    assert_eq!(
        run(&mut python),
        "[{'n': 1, 'text': 'a'}, {'n': None, 'text': 'b'}]\n"
    );
}
