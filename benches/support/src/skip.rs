//! Tests that need an optional tool: without it, they are skipped and counted in a line at the end, or fail if
//! `STO_TEST_ALL=1` is set.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The number of skipped tests by reason.
static SKIPPED: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// Returns `true` if one of these tools, as [`is_there`] names them, is missing. The test must return then; it is counted
/// as skipped.
///
/// # Panics
///
/// Panics if a tool is missing and `STO_TEST_ALL=1` is set.
#[track_caller]
pub fn missing(tools: &[&str]) -> bool {
    let Some(tool) = tools.iter().find(|tool| !is_there(tool)) else {
        return false;
    };
    assert!(
        std::env::var_os("STO_TEST_ALL").is_none_or(|all| all != "1"),
        "there is no {tool}, and STO_TEST_ALL=1 asks for every test"
    );
    skip(&format!("no {tool}"));
    true
}

/// Counts a test as skipped for a reason that no installation changes.
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if skipped.is_empty() {
        // SAFETY: atexit(3) takes a function without arguments that does not unwind, which `print_skipped` is.
        unsafe { atexit(print_skipped) };
    }
    *skipped.entry(reason.to_owned()).or_default() += 1;
}

/// Returns `true` if a program is on the path. `python3 jsonschema` is a module of Python, `node axe-core` a package of
/// Node.js in a folder of `NODE_PATH`, and `emacs eglot` a library of Emacs.
pub fn is_there(tool: &str) -> bool {
    if let Some(package) = tool.strip_prefix("node ") {
        let mut node = Command::new("node");
        node.args(["-e", &format!("require.resolve('{package}')")]);
        let status = node.stdout(Stdio::null()).stderr(Stdio::null()).status();
        return status.is_ok_and(|status| status.success());
    }
    if let Some(module) = tool.strip_prefix("python3 ") {
        let mut python = Command::new("python3");
        python.args(["-c", &format!("import {module}")]);
        let status = python.stdout(Stdio::null()).stderr(Stdio::null()).status();
        return status.is_ok_and(|status| status.success());
    }
    if let Some(library) = tool.strip_prefix("emacs ") {
        let mut emacs = Command::new("emacs");
        let load = format!("(progn (require 'package) (package-initialize) (require '{library}))");
        emacs.args(["--batch", "--eval", &load]);
        let status = emacs.stdout(Stdio::null()).stderr(Stdio::null()).status();
        return status.is_ok_and(|status| status.success());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// Prints the number of skipped tests. Runs at exit, because the test harness has no hook for its end.
extern "C" fn print_skipped() {
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    let count: usize = skipped.values().sum();
    let tests = if count == 1 { "test" } else { "tests" };
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(reason, count)| format!("{reason} ({count})"))
        .collect();
    let reasons = reasons.join(", ");
    let _ = writeln!(
        std::io::stdout(),
        "{count} {tests} skipped: {reasons}; with STO_TEST_ALL=1 what is not installed fails\n"
    );
}
