//! `sto record` with the real perf. If perf may not record here, the tests check that `sto record` says so.

use crate::support::{Run, Sandbox};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use sto_test_support::{missing, skip};

/// A shell loop that runs for a fraction of a second, long enough for some samples.
const WORK: &str = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";

/// Runs `sto record`. Returns `None` if perf is missing or the kernel does not permit it to record.
pub(crate) fn record(sandbox: &Sandbox, args: &[&str]) -> Option<Run> {
    if missing(&["perf"]) {
        return None;
    }
    let run = sandbox.sto(&[&["record"], args].concat());
    if run.stderr.contains("perf cannot record") {
        let run = run.fails_with(&["perf cannot record"]);
        assert!(run.stderr.contains("perf_event_paranoid"), "{run:?}");
        skip("perf may not record here");
        return None;
    }
    Some(run)
}

pub(crate) fn profiles(sandbox: &Sandbox) -> Vec<Value> {
    let ls = sandbox.json(&["ls"]);
    let builds = ls["builds"].as_array().unwrap().iter();
    let profiles = builds.flat_map(|build| build["profiles"].as_array().unwrap());
    profiles.cloned().collect()
}

#[test]
fn stores_time_exit_status_labels_and_metrics() {
    let sandbox = Sandbox::new();
    let script = format!("{WORK}; echo out; echo err >&2; cat");
    let args = [
        "--build",
        "v1",
        "--benchmark",
        "loop",
        "--label",
        "k=v",
        "--metric",
        "m=2",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let Some(run) = record(&sandbox, &args) else {
        return;
    };
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(
        run.stdout, "out\n",
        "standard output is the command's alone"
    );
    assert!(run.stderr.starts_with("err\n"), "{run:?}");
    assert!(run.stderr.contains("@v1: profile"), "{run:?}");
    let profiles = profiles(&sandbox);
    let [profile] = &profiles[..] else {
        panic!("{profiles:?}")
    };
    assert_eq!(profile["benchmark"], "loop");
    assert_eq!(profile["labels"]["k"], "v");
    assert_eq!(profile["metrics"]["m"], 2.0);
    assert_eq!(profile["metrics"]["exit_status"], 0.0);
    let seconds = profile["metrics"]["seconds"].as_f64().unwrap();
    assert!(seconds > 0.0, "{seconds}");
}

#[test]
fn every_run_reads_standard_input_from_its_beginning() {
    if missing(&["perf"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let script = format!("read skipped; sto record --runs 2 -- sh -c '{WORK}; cat'");
    let script = script.replacen("sto", env!("CARGO_BIN_EXE_sto"), 1);
    let input = sandbox.write("input", "skipped\nfirst\nsecond\n");
    let mut shell = sandbox.program("sh", &["-c", &script]);
    shell
        .env("STO_STORE", sandbox.path("store"))
        .stdin(File::open(input).unwrap());
    let run = Run::new(&mut shell);
    if !run.stderr.contains("perf cannot record") {
        assert_eq!(run.stdout, "first\nsecond\n".repeat(2), "{run:?}");
    }
}

#[test]
fn several_runs_are_profiles_of_one_build_and_one_summary() {
    let sandbox = Sandbox::new();
    let args = ["--build", "v1", "--runs", "3", "sh", "-c", WORK];
    let Some(run) = record(&sandbox, &args) else {
        return;
    };
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(profiles(&sandbox).len(), 3);
    let lines: Vec<&str> = run.stderr.lines().take(3).collect();
    assert_eq!(lines, ["run 1 of 3", "run 2 of 3", "run 3 of 3"]);
    assert_eq!(
        run.stderr.matches("@v1: 3 runs, profiles ").count(),
        1,
        "{run:?}"
    );
    assert_eq!(run.stderr.matches("The store is").count(), 1, "{run:?}");
}

#[test]
fn arguments_after_the_program_belong_to_it() {
    let sandbox = Sandbox::new();
    let script = format!("{WORK}; echo \"$@\"");
    let own = ["--runs", "7", "-p", "--", "--help"];
    for before in [&["--build", "v1"][..], &["--build", "v1", "--"]] {
        let args = [before, &["sh", "-c", &script, "sh"], &own].concat();
        let Some(run) = record(&sandbox, &args) else {
            return;
        };
        assert_eq!(run.status, Some(0), "{run:?}");
        assert_eq!(run.stdout, "--runs 7 -p -- --help\n");
    }
    let run = sandbox.sto(&["record", "--no-such-option", "sh"]);
    assert_eq!(run.status, Some(2), "{run:?}");
}

#[test]
fn warm_up_runs_are_not_stored() {
    let sandbox = Sandbox::new();
    let script = format!("{WORK}; echo ran");
    let args = ["--build", "v1", "--warmup", "2", "sh", "-c", &script];
    if let Some(run) = record(&sandbox, &args) {
        assert_eq!(run.stdout, "ran\n".repeat(3), "{run:?}");
        assert_eq!(profiles(&sandbox).len(), 1);
    }
}

#[test]
fn stores_several_events_and_slices() {
    let sandbox = Sandbox::new();
    let args = ["-e", "cpu-clock", "-e", "page-faults", "--slices", "3"];
    let args = [&args[..], &["--build", "v1", "sh", "-c", WORK]].concat();
    if let Some(run) = record(&sandbox, &args) {
        assert_eq!(run.status, Some(0), "{run:?}");
        assert!(run.stderr.contains("for 3 time slices of"), "{run:?}");
        let events = &profiles(&sandbox)[0]["events"];
        let events = events.as_array().unwrap().iter();
        let events: Vec<&str> = events.map(|e| e["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["cpu-clock", "page-faults"]);
    }
}

#[test]
fn unknown_event_is_rejected_before_the_program_runs() {
    let sandbox = Sandbox::new();
    if let Some(run) = record(&sandbox, &["-e", "no-such-event", "echo", "ran"]) {
        let run = run.fails_with(&["perf does not know the event"]);
        assert!(run.stderr.contains("`perf list`"), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn compare_alternates_between_two_programs() {
    if missing(&["perf"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let work = |file: &str, count: u32| {
        let script = format!(
            "echo {file} >> order; i=0; while [ $i -lt {count} ]; do i=$((i+1)); done; echo out"
        );
        sandbox.write(file, script);
        format!("sh '{file}'")
    };
    let (old, new) = (work("old one.sh", 60_000), work("new.sh", 180_000));
    let args = ["--compare", &old, &new, "--runs", "4", "--warmup", "1"];
    let run = Run::new(
        sandbox
            .command(&[&["record"], &args[..]].concat())
            .current_dir(sandbox.path("")),
    );
    if run.stderr.contains("perf cannot record") {
        return;
    }
    let order = std::fs::read_to_string(sandbox.path("order")).unwrap();
    let order: Vec<&str> = order.lines().collect();
    let (a, b) = ("old one.sh", "new.sh");
    assert_eq!(order, [a, b, a, b, b, a, a, b, b, a]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.starts_with("REGRESSION"), "{run:?}");
    assert!(run.stdout.contains("total cost"), "{run:?}");
    assert!(
        !run.stdout.contains("out\n"),
        "what they print is not compared"
    );
    assert!(
        run.stderr.contains("run 4 of 4: sh 'old one.sh'\n"),
        "{run:?}"
    );
    assert_eq!(profiles(&sandbox).len(), 8);
}

#[test]
fn rejects_invalid_command_lines() {
    let sandbox = Sandbox::new();
    for line in ["sh 'x", "", "  "] {
        let run = sandbox.sto(&["record", "--compare", "sh x", line]);
        run.fails_with(&["cannot split this command line into words"]);
    }
}

#[test]
fn non_executable_file_is_not_reported_as_missing() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("plain", "");
    let run = sandbox.sto(&["record", file.to_str().unwrap()]);
    let run = run.fails_with(&["this file is not executable"]);
    assert!(run.stderr.contains("chmod +x"), "{run:?}");
    let run = sandbox.sto(&["record", sandbox.path("").to_str().unwrap()]);
    run.fails_with(&["this is a folder, not a program"]);
}

#[test]
fn exit_status_of_a_failing_command_is_returned() {
    let sandbox = Sandbox::new();
    let script = format!("{WORK}; exit 7");
    let args = ["--build", "v1", "--runs", "3", "--", "sh", "-c", &script];
    let Some(run) = record(&sandbox, &args) else {
        return;
    };
    assert_eq!(run.status, Some(7), "{run:?}");
    let message = "run 1 of 3 ended with status 7; the other 2 were not made";
    assert!(run.stderr.contains(message), "{run:?}");
    let profiles = profiles(&sandbox);
    assert_eq!(profiles.len(), 1);
    assert_eq!(profiles[0]["metrics"]["exit_status"], 7.0);
}

#[test]
fn command_ended_by_a_signal_has_the_status_of_shells() {
    let sandbox = Sandbox::new();
    let script = format!("{WORK}; kill -TERM $$");
    let Some(run) = record(&sandbox, &["--build", "v1", "--", "sh", "-c", &script]) else {
        return;
    };
    assert_eq!(run.status, Some(128 + 15), "{run:?}");
    assert_eq!(profiles(&sandbox).len(), 1);
}

/// Waits until the recorded command has printed a line. Returns `false` if the recording ended before.
fn has_worked(child: &mut Child) -> bool {
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    line == "worked\n"
}

fn send(signal: &str, child: &Child) {
    let kill = format!("kill {signal} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.unwrap().success());
}

/// Sends a signal to `sto record` when the command has printed that it has worked for a while.
fn interrupted(sandbox: &Sandbox, args: &[&str], script: &str, signal: &str) -> Option<Run> {
    // Tests in the background of a shell run with SIGINT ignored.
    let default_signals = [
        "--default-signal=INT",
        "--default-signal=TERM",
        env!("CARGO_BIN_EXE_sto"),
    ];
    let mut command = sandbox.program("env", &default_signals);
    command.env("STO_STORE", sandbox.path("store"));
    command.args([&["record", "--build", "v1"], args].concat());
    command.args(["--", "sh", "-c", script]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let is_running = has_worked(&mut child);
    if is_running {
        send(signal, &child);
    }
    let run = Run::from(child.wait_with_output().unwrap());
    is_running.then_some(run)
}

#[test]
fn interrupted_recording_is_stored() {
    if missing(&["perf"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let script = format!("{WORK}; echo worked; while :; do :; done");
    for (recorded, (signal, status)) in (1..).zip([("-INT", 130), ("-TERM", 143)]) {
        let Some(run) = interrupted(&sandbox, &[], &script, signal) else {
            return;
        };
        assert_eq!(run.status, Some(status), "{run:?}");
        assert_eq!(profiles(&sandbox).len(), recorded);
    }
}

#[test]
fn signals_ignored_by_the_shell_do_not_end_a_recording() {
    if missing(&["perf"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let ignoring = "trap '' INT TERM; exec \"$@\"";
    // The command ends at the end of its input.
    let work = format!("{WORK}; echo worked; cat");
    let mut child = sandbox
        .program("sh", &["-c", ignoring, "sh", env!("CARGO_BIN_EXE_sto")])
        .env("STO_STORE", sandbox.path("store"))
        .args(["record", "--build", "v1", "--", "sh", "-c", &work])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    if !has_worked(&mut child) {
        return;
    }
    for signal in ["-INT", "-TERM"] {
        send(signal, &child);
    }
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(profiles(&sandbox).len(), 1);
}

#[test]
fn interrupted_run_is_not_stored_but_earlier_runs_are() {
    if missing(&["perf"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let script =
        format!("{WORK}; if [ -e first ]; then echo worked; while :; do :; done; fi; touch first");
    let Some(run) = interrupted(&sandbox, &["--runs", "5"], &script, "-INT") else {
        return;
    };
    assert_eq!(run.status, Some(130), "{run:?}");
    assert!(run.stderr.contains("run 2 was interrupted"), "{run:?}");
    assert_eq!(profiles(&sandbox).len(), 1);
}

#[test]
fn records_a_running_process_until_the_command_ends() {
    let sandbox = Sandbox::new();
    for name in ["begun", "worked"] {
        let made = sandbox.program("mkfifo", &[name]).status();
        assert!(made.unwrap().success());
    }
    // Works once it is recorded, and reports that.
    let script = format!("read _ < begun; {WORK}; echo > worked; while :; do :; done");
    let mut process = sandbox.program("sh", &["-c", &script]).spawn().unwrap();
    let pid = process.id().to_string();
    let until = "echo > begun; read _ < worked";
    let args = ["--build", "v1", "-p", &pid, "--", "sh", "-c", until];
    let run = record(&sandbox, &args);
    process.kill().unwrap();
    process.wait().unwrap();
    if let Some(run) = run {
        assert_eq!(run.status, Some(0), "{run:?}");
        let profiles = profiles(&sandbox);
        assert_eq!(profiles.len(), 1);
        assert_eq!(profiles[0]["metrics"].as_object().map_or(0, |m| m.len()), 0);
    }
}

/// A program that generates code, with a perf map in a `/tmp` of its own and named after the id that it knows, as in a
/// container.
#[cfg(target_arch = "x86_64")]
const GENERATES_CODE: &str = "
import ctypes, mmap, os
# mov ecx, 100000000; dec ecx; jnz; ret
code = bytes.fromhex('b900e1f505ffc975fcc3')
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
with open(f'/tmp/perf-{os.getpid()}.map', 'w') as perf_map:
    perf_map.write(f'{address:x} {len(code):x} generated\\n')
print(os.getpid(), flush=True)
while True:
    ctypes.CFUNCTYPE(None)(address)()
";

#[test]
#[cfg(target_arch = "x86_64")]
fn perf_map_in_a_container_names_generated_code() {
    if missing(&["perf", "python3", "unshare"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let script = "mount -t tmpfs none /tmp && exec python3 -c \"$1\"";
    let args = [
        "--map-root-user",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
    ];
    let mut container = sandbox.program("unshare", &args);
    container.args(["sh", "-c", script, "sh", GENERATES_CODE]);
    let mut container = container.stdout(Stdio::piped()).spawn().unwrap();
    let mut own_id = String::new();
    let mut output = BufReader::new(container.stdout.take().unwrap());
    output.read_line(&mut own_id).unwrap();
    if own_id.is_empty() {
        container.wait().unwrap();
        return skip("no right to make namespaces");
    }
    assert_eq!(own_id, "1\n");
    let id = container.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let args = [
        "--build",
        "v1",
        "-p",
        children.trim(),
        "--",
        "sh",
        "-c",
        WORK,
    ];
    let run = record(&sandbox, &args);
    container.kill().unwrap();
    container.wait().unwrap();
    if run.is_some() {
        let top = sandbox.sto(&["top", "v1", "-n", "1"]).succeeds();
        assert!(top.stdout.contains("[jit]   generated"), "{top:?}");
    }
}

#[test]
fn recordings_are_kept_only_on_request() {
    if missing(&["perf"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let temporary = sandbox.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let kept = sandbox.path("kept");
    let kept = kept.to_str().unwrap();
    let args = [
        "record", "--build", "v1", "--keep", kept, "--", "sh", "-c", WORK,
    ];
    let run = Run::new(sandbox.command(&args).env("TMPDIR", &temporary));
    assert_eq!(temporary.read_dir().unwrap().count(), 0, "{run:?}");
    if run.status == Some(0) {
        sandbox
            .sto(&["ingest", &format!("{kept}/1/perf.data"), "--build", "v1"])
            .succeeds();
        assert_eq!(profiles(&sandbox).len(), 1, "it is the same recording");
    }
}

#[test]
fn rejects_zero_runs_and_zero_samples() {
    let sandbox = Sandbox::new();
    for option in ["-F", "--runs"] {
        let run = sandbox.sto(&["record", option, "0", "--", "true"]);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("0 is not in 1.."), "{run:?}");
    }
}

#[test]
fn missing_command_is_an_error() {
    let sandbox = Sandbox::new();
    let run = sandbox.sto(&["record", "--", "./no-such-program"]);
    run.fails_with(&["./no-such-program: there is no such program to run"]);
}

#[test]
fn missing_process_is_an_error() {
    let sandbox = Sandbox::new();
    // More than the kernel's `PID_MAX_LIMIT`.
    let run = sandbox.sto(&["record", "-p", "4194305"]);
    run.fails_with(&["there is no process 4194305"]);
}

/// Writes a script that replaces perf, and returns its folder.
fn write_perf_script(sandbox: &Sandbox, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let bin = sandbox.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let perf = sandbox.write("bin/perf", format!("#!/bin/sh\n{script}"));
    std::fs::set_permissions(perf, PermissionsExt::from_mode(0o755)).unwrap();
    bin
}

/// Runs `sto record` with a script instead of perf, or without perf if `script` is `None`.
fn with_perf(script: Option<&str>) -> Run {
    with_perf_in(&Sandbox::new(), script)
}

/// Like [`with_perf`], in this sandbox, whose folder `tmp` is used for temporary files.
fn with_perf_in(sandbox: &Sandbox, script: Option<&str>) -> Run {
    let bin = sandbox.path("bin");
    for folder in [&bin, &sandbox.path("tmp")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    if let Some(script) = script {
        write_perf_script(sandbox, script);
    }
    Run::new(
        sandbox
            .command(&["record", "--", "/bin/sh"])
            .env("PATH", bin)
            .env("TMPDIR", sandbox.path("tmp")),
    )
}

#[test]
fn missing_perf_names_the_package() {
    let run = with_perf(None).fails_with(&["cannot find `perf`"]);
    assert!(run.stderr.contains("apt install linux-perf"), "{run:?}");
}

#[test]
fn old_perf_records_without_newer_options() {
    let sandbox = Sandbox::new();
    if record(&sandbox, &["--build", "new", "--", "sh", "-c", WORK]).is_none() {
        return;
    }
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "PATH='{path}'\n\
         for word; do case $word in --no-bpf-event | --buildid-all | --buildid-mmap)\n\
         echo \"  Error: unknown option \\`${{word#--}}'\" >&2; exit 129 ;;\n\
         esac; done\n\
         exec perf \"$@\""
    );
    let bin = write_perf_script(&sandbox, &script);
    let args = ["record", "--build", "old", "--", "sh", "-c", WORK];
    let path = format!("{}:{path}", bin.display());
    Run::new(sandbox.command(&args).env("PATH", path)).succeeds();
    assert_eq!(profiles(&sandbox).len(), 2);
}

#[test]
fn denied_permission_names_the_kernel_setting() {
    let refusal =
        "echo 'Error:\nAccess to performance monitoring is limited.\nAdvice' >&2\nexit 255";
    let run = with_perf(Some(refusal));
    let run = run.fails_with(&["perf cannot record: Access to performance monitoring is limited."]);
    assert!(run.stderr.contains("kernel.perf_event_paranoid"), "{run:?}");
}

#[test]
fn failed_perf_stores_nothing() {
    // The script lets the probe pass, but records nothing.
    let run = with_perf(Some("case \"$*\" in *probe*) exit 0;; esac\nexit 9"));
    let run = run.fails_with(&["perf recorded nothing: it ended with status 9"]);
    assert!(
        run.stderr.contains("`perf record -v` shows more"),
        "{run:?}"
    );
}

#[test]
fn recording_without_samples_has_a_remedy() {
    let recording = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../testdata/perf-data/ran-before.perf.data"
    );
    // Omit the last record, which is the only sample.
    let script = format!(
        "case \"$*\" in *probe*) exit 0;; esac\n\
         while [ \"$1\" != -o ]; do shift; done\n/usr/bin/head -c -64 {recording} > \"$2\""
    );
    let run = with_perf(Some(&script)).fails_with(&["no sample was taken"]);
    assert!(run.stderr.contains("sample more often"), "{run:?}");
}

#[test]
fn next_recording_removes_files_of_killed_ones() {
    let sandbox = Sandbox::new();
    let recordings = || {
        let entries = sandbox.path("tmp").read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<BTreeSet<String>>()
    };
    let killed = "case \"$*\" in *probe*) exit 0;; esac\nkill -9 $PPID";
    assert_eq!(with_perf_in(&sandbox, Some(killed)).status, None);
    assert_eq!(recordings().len(), 1);

    // The process of a work folder may be in another container.
    let mut nobody = Command::new("true").spawn().unwrap();
    nobody.wait().unwrap();
    let others = [
        format!("sto-record-{}", nobody.id()),
        format!("sto-record-{}", std::process::id()),
        "sto-record-mine".to_owned(),
    ];
    for name in &others {
        std::fs::create_dir(sandbox.path("tmp").join(name)).unwrap();
    }
    let elsewhere = File::open(sandbox.path("tmp").join(&others[0])).unwrap();
    elsewhere.lock().unwrap();
    let fails = "case \"$*\" in *probe*) exit 0;; esac\nexit 9";
    with_perf_in(&sandbox, Some(fails)).fails_with(&["perf recorded nothing"]);
    assert_eq!(recordings(), BTreeSet::from(others));
}

#[test]
fn off_cpu_records_how_long_the_program_waits() {
    let sandbox = Sandbox::new();
    let args = ["--off-cpu", "--build", "v1", "--", "sh", "-c", "sleep 0.05"];
    let Some(run) = record(&sandbox, &args) else {
        return;
    };
    run.succeeds();
    let top = sandbox.json(&["top", "v1", "--event", "off-cpu"]);
    let asleep = top["functions"].as_array().unwrap().iter();
    let asleep: u64 = asleep
        .filter(|function| function["function"] == "[sleeping]")
        .map(|function| function["self"]["value"].as_u64().unwrap())
        .sum();
    assert!(asleep >= 50_000_000, "{top}");
}
