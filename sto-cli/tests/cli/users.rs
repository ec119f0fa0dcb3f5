//! Attacks by other users of the machine, who prepare files where sto will look.
//!
//! Tests that need a second user are skipped, with a message, if they cannot have one.

use crate::support::{Run, Sandbox, files_of, temporary_files};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use sto_test_support::{missing, skip};

/// The user `nobody` of most systems.
const NOBODY: u32 = 65534;

/// Changes a path's owner to another user. Returns `false` and skips the test if this is not permitted.
fn give_away(path: &Path) -> bool {
    let given = chown(path, Some(NOBODY), Some(NOBODY)).is_ok();
    if !given {
        skip("another owner: giving files away needs root");
    }
    given
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn mkfifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Runs a command and checks that it ends in time.
fn run_with_timeout(command: &mut Command) -> Run {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let (end, ended) = mpsc::channel();
    std::thread::spawn(move || end.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(Duration::from_secs(120)) else {
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
        panic!("{command:?} waits for ever");
    };
    output.unwrap().into()
}

/// Replaces a half-written file with a link, as the owner of a folder can do at any moment.
/// Returns `true` if it was in time.
fn swap_for_link(folder: &Path, target: &Path, is_over: &AtomicBool) -> bool {
    let link = folder.join("link");
    let _ = fs::remove_file(&link);
    symlink(target, &link).unwrap();
    while !is_over.load(Ordering::SeqCst) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let is_half_written = entry
                .file_name()
                .to_str()
                .unwrap()
                .starts_with(".store.redb.");
            let size = entry.metadata().map_or(0, |found| found.len());
            if is_half_written && size > 0 && fs::rename(&link, entry.path()).is_ok() {
                return true;
            }
        }
    }
    false
}

#[test]
fn link_instead_of_a_half_written_store_changes_no_other_file() {
    let sandbox = Sandbox::with_two_builds();
    let secret = sandbox.write("secret", "only mine");
    set_mode(&secret, 0o600);
    let before = sandbox.store_bytes();
    let file = sandbox.path("store/store.redb");
    set_mode(&file, 0o666);
    // A changed mode of the other file would show it as well.
    give_away(&file);
    let was = secret.metadata().unwrap();
    let mut swaps = 0;
    for _ in 0..40 {
        let is_over = AtomicBool::new(false);
        let (run, swapped) = std::thread::scope(|scope| {
            let folder = sandbox.path("store");
            let (secret, is_over) = (&secret, &is_over);
            let swapping = scope.spawn(move || swap_for_link(&folder, secret, is_over));
            let run = sandbox.sto(&["compact"]);
            is_over.store(true, Ordering::SeqCst);
            (run, swapping.join().unwrap())
        });
        swaps += u32::from(swapped);
        let now = secret.metadata().unwrap();
        assert_eq!((now.uid(), now.mode()), (was.uid(), was.mode()), "{run:?}");
        assert_eq!(fs::read(&secret).unwrap(), b"only mine");
        if swapped {
            run.fails_with(&["another user"]);
        }
        for left in temporary_files(&sandbox.path("store")) {
            fs::remove_file(left).unwrap();
        }
        fs::remove_file(&file).unwrap();
        fs::write(&file, &before[0].1).unwrap();
        if swaps == 3 {
            return;
        }
    }
    assert!(swaps > 0, "the link never came in time");
}

#[test]
fn replaced_file_keeps_its_mode() {
    let sandbox = Sandbox::with_two_builds();
    let out = sandbox.write("out.folded", "old");
    for wanted in [0o600, 0o640, 0o604] {
        set_mode(&out, wanted);
        let export = ["export", "v1", "--format", "folded", "-o", "out.folded"];
        sandbox.sto(&export).succeeds();
        assert_eq!(mode(&out), wanted);
    }
    assert_eq!(temporary_files(&sandbox.path("")), [] as [&Path; 0]);
}

#[test]
fn store_of_another_user_is_only_used_if_named() {
    let sandbox = Sandbox::with_two_builds();
    fs::rename(sandbox.path("store"), sandbox.path(".sto")).unwrap();
    fs::create_dir(sandbox.path("below")).unwrap();
    let ls = |args: &[&str]| {
        let mut command = sandbox.bare_command(args);
        command
            .current_dir(sandbox.path("below"))
            .env_remove("SUDO_UID");
        command
    };
    Run::new(&mut ls(&["ls"])).succeeds();
    let store = sandbox.path(".sto");
    for path in [store.join("store.redb"), store.clone()] {
        if !give_away(&path) {
            return;
        }
        let run = Run::new(&mut ls(&["ls"]));
        let run = run.fails_with(&[path.to_str().unwrap(), "belongs to user 65534"]);
        assert!(run.stderr.contains("--store"), "{run:?}");
        // A user who names a store trusts it.
        let store = store.to_str().unwrap();
        Run::new(&mut ls(&["--store", store, "ls"])).succeeds();
        Run::new(ls(&["ls"]).env("STO_STORE", store)).succeeds();
        let config = sandbox.write("config.toml", format!("safe-stores = ['{store}']\n"));
        Run::new(ls(&["ls"]).env("STO_CONFIG", config)).succeeds();
        // Root through sudo of that user.
        Run::new(ls(&["ls"]).env("SUDO_UID", "65534")).succeeds();
        chown(&path, Some(0), Some(0)).unwrap();
    }
}

#[test]
fn policy_of_another_user_is_only_used_if_named() {
    let sandbox = Sandbox::with_two_builds();
    let policy = sandbox.write("sto.toml", "[thresholds]\nmin-effect = \"90000%\"\n");
    let compare = ["find-regressions", "v1", "v2"];
    assert_eq!(sandbox.sto(&compare).status, Some(0));
    if give_away(&policy) {
        let run = sandbox
            .sto(&compare)
            .fails_with(&["sto.toml", "belongs to user 65534"]);
        assert!(run.stderr.contains("--policy"), "{run:?}");
        let named = [&compare[..], &["--policy", "sto.toml"]].concat();
        sandbox.sto(&named).succeeds();
    }
}

/// The settings of the work tree name programs that would leave a file.
#[test]
fn programs_in_git_settings_are_not_run() {
    if missing(&["git"]) {
        return;
    }
    let sandbox = Sandbox::with_two_builds();
    let git = |args: &[&str]| {
        let run = Run::new(&mut sandbox.program("git", args));
        assert_eq!(run.status, Some(0), "{run:?}");
        run
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "x"]);
    git(&["config", "user.email", "x@example.com"]);
    git(&["add", "a.folded"]);
    git(&["commit", "-qm", "x"]);
    let head = git(&["rev-parse", "HEAD"]).stdout;
    sandbox.write(".gitattributes", "* filter=evil diff=evil\n");
    let script = sandbox.write("evil", "#!/bin/sh\ntouch \"$0.$$\"\ncat\n");
    set_mode(&script, 0o755);
    let script = script.to_str().unwrap();
    sandbox.write(
        ".git/hooks/post-index-change",
        "#!/bin/sh\ntouch \"$0.ran\"\n",
    );
    set_mode(&sandbox.path(".git/hooks/post-index-change"), 0o755);
    for setting in [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "core.pager",
        "gpg.program",
    ] {
        git(&["config", setting, script]);
    }
    git(&["config", "log.showSignature", "true"]);
    let run = |expected: &str| {
        sandbox.write("c.folded", format!("main;c 1\nmain;{} 2\n", expected.len()));
        // A build's commit never changes, so each repetition needs a new build.
        let build = format!("new{expected}");
        let ingest = ["ingest", "c.folded", "--build", &build, "--exe", "demo"];
        sandbox.sto(&ingest).succeeds();
        let found = sandbox.json(&["ls"]).to_string();
        assert!(
            found.contains(&format!("{}{expected}\"", head.trim())),
            "{found}"
        );
        sandbox.sto(&["find-regressions", "v1", "v2"]);
        let ran = |path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("evil.") || name.ends_with(".ran")
        };
        for folder in ["", ".git/hooks"] {
            let entries = fs::read_dir(sandbox.path(folder)).unwrap();
            let left: Vec<_> = entries
                .map(|entry| entry.unwrap().path())
                .filter(|path| ran(path))
                .collect();
            assert!(left.is_empty(), "{left:?}");
        }
    };
    // Rewrite the file, so that git must read it.
    let text = fs::read(sandbox.path("a.folded")).unwrap();
    sandbox.write("a.folded", &text);
    run("");
    sandbox.write("a.folded", "changed");
    run("-dirty");
}

#[test]
fn pipes_and_links_named_like_recordings_do_not_block() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let precious = sandbox.write("home/precious", "mine");
    // No process has this id, which exceeds the kernel's `PID_MAX_LIMIT`.
    mkfifo(&temporary.join("sto-record-4194305"));
    mkfifo(&temporary.join("sto-record-4194305-0123456789abcdef"));
    symlink(
        sandbox.path("home"),
        temporary.join("sto-record-4194306-0123456789abcdef"),
    )
    .unwrap();
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let record = ["record", "--build", "v1", "--", "sh", "-c", work];
    let run = run_with_timeout(sandbox.command(&record).env("TMPDIR", &temporary));
    if run.stderr.contains("perf cannot record") {
        skip("recording: perf may not record here");
    } else {
        assert_eq!(run.status, Some(0), "{run:?}");
    }
    assert!(precious.exists());
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 3, "{run:?}");
}

#[test]
fn copies_only_the_regular_perf_map_of_a_process() {
    let sandbox = Sandbox::new();
    let secret = sandbox.write("secret", "7f0000000000 1000 only_mine\n");
    set_mode(&secret, 0o600);
    // Works in short bursts, so that perf gets samples and other tests get the processor.
    let work = "while i=0; do while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.02; done";
    let mut process = sandbox.program("sh", &["-c", work]).spawn().unwrap();
    let map = Path::new("/tmp").join(format!("perf-{}.map", process.id()));
    for (kind, expected) in [
        ("link", "it is a symbolic link"),
        ("hard link", "it has a second name"),
        ("pipe", "it is not a regular file"),
        ("sparse", "it is larger than 256 MiB"),
        ("other user", "it belongs to user 65534"),
        ("own", ""),
    ] {
        let _ = fs::remove_file(&map);
        match kind {
            "link" => symlink(&secret, &map).unwrap(),
            "hard link" if fs::hard_link(&secret, &map).is_err() => continue,
            "hard link" => {}
            "pipe" => mkfifo(&map),
            "sparse" => fs::File::create(&map).unwrap().set_len(3 << 30).unwrap(),
            _ => fs::write(&map, "7f0000000000 1000 f\n").unwrap(),
        }
        if kind == "other user" && !give_away(&map) {
            continue;
        }
        let pid = process.id().to_string();
        let kept = sandbox.path(kind);
        let mut args = vec!["record", "--build", "v1", "--keep", kept.to_str().unwrap()];
        args.extend(["-p", &pid, "--", "sleep", "0.3"]);
        let run = run_with_timeout(&mut sandbox.command(&args));
        if run.stderr.contains("perf cannot record") {
            skip("recording: perf may not record here");
            break;
        }
        assert_eq!(run.status, Some(0), "{run:?}");
        assert_eq!(
            run.stderr.contains("is left out: it"),
            kind != "own",
            "{run:?}"
        );
        assert!(run.stderr.contains(expected), "{kind}: {run:?}");
        let copied = files_of(&kept.join("1"));
        let maps = copied
            .iter()
            .filter(|(path, _)| path.extension().is_some_and(|end| end == "map"));
        assert_eq!(maps.count(), usize::from(kind == "own"), "{kind}");
    }
    let _ = fs::remove_file(&map);
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Runs the command with a limit of one thread. Root has no limits, so it runs the command as another
/// user.
fn with_one_thread(sandbox: &Sandbox, args: &[&str]) -> Option<Run> {
    let is_root = sandbox.path("").metadata().unwrap().uid() == 0;
    let mut command = vec!["--nproc=1"];
    let program = sandbox.path("sto");
    if is_root {
        fs::copy(env!("CARGO_BIN_EXE_sto"), &program).unwrap();
        command.extend([
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]);
        set_mode(&sandbox.path(""), 0o777);
        for folder in ["home", "store", ""] {
            give_away(&sandbox.path(folder));
        }
        for (path, _) in sandbox.store_bytes() {
            give_away(&path);
        }
        command.push(program.to_str().unwrap());
    } else {
        command.push(env!("CARGO_BIN_EXE_sto"));
    }
    command.extend(args);
    let mut command = sandbox.program("prlimit", &command);
    let output = command.env("STO_STORE", sandbox.path("store")).output();
    if output.is_err() {
        skip("threads: there is no prlimit (util-linux)");
    }
    output.ok().map(Run::from)
}

#[test]
fn commands_work_with_a_single_thread() {
    let sandbox = Sandbox::with_two_builds();
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/demo/v1.perf.data");
    fs::copy(recording, sandbox.path("perf.data")).unwrap();
    let ingest = [
        "ingest",
        "perf.data",
        "a.folded",
        "b.folded",
        "--build",
        "v3",
        "--exe",
        "demo",
    ];
    for args in [
        &["ls"][..],
        &["top", "v1"],
        &ingest,
        &["verify"],
        &["compact"],
    ] {
        match with_one_thread(&sandbox, args) {
            Some(run) => drop(run.succeeds()),
            None => return,
        }
    }
    let compared = with_one_thread(&sandbox, &["find-regressions", "v1", "v2"]).unwrap();
    assert_eq!(compared.status, Some(1), "{compared:?}");
}

#[test]
fn dry_run_works_on_a_full_disk() {
    let sandbox = Sandbox::with_two_builds();
    let prune = ["prune", "--keep-last", "1", "--dry-run", "--format", "json"];
    let expected = sandbox.sto(&prune).succeeds().stdout;
    // A limit on file sizes fails like a full disk.
    let mut command = sandbox.program("sh", &["-c", "ulimit -f 8; exec \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_sto")).args(prune);
    let run = Run::new(command.env("STO_STORE", sandbox.path("store")));
    // memory counts as a file, too; there the limit is named.
    if run.status != Some(0) {
        run.fails_with(&["File too large"]);
    }
    let Some(full) = FullDisk::mount(&sandbox) else {
        return;
    };
    let run = sandbox.sto(&[&["--store", full.store.to_str().unwrap()], &prune[..]].concat());
    assert_eq!(run.succeeds().stdout, expected);
}

/// A store on a full disk.
struct FullDisk {
    disk: std::path::PathBuf,
    store: std::path::PathBuf,
}

impl FullDisk {
    /// Mounts the disk; skips the test and returns `None` if this user may not mount one.
    fn mount(sandbox: &Sandbox) -> Option<FullDisk> {
        let disk = sandbox.path("disk");
        fs::create_dir(&disk).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(&disk);
        if !mount
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|mounted| mounted.success())
        {
            skip("a full disk: this user may not mount one");
            return None;
        }
        let store = disk.join("store");
        fs::create_dir(&store).unwrap();
        let full = FullDisk { disk, store };
        fs::copy(
            sandbox.path("store/store.redb"),
            full.store.join("store.redb"),
        )
        .unwrap();
        let filled = fs::write(full.disk.join("filler"), vec![1; 1 << 20]);
        assert!(filled.is_err());
        Some(full)
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.disk).status();
    }
}

#[test]
fn waiting_names_the_process_with_the_lock() {
    let sandbox = Sandbox::with_two_builds();
    let file = sandbox.path("store/store.redb");
    // flock(1) of util-linux. Without a fork, the started process holds the lock, and it holds it once
    // cat runs.
    let mut holder = Command::new("flock")
        .args(["--shared", "--no-fork"])
        .arg(&file)
        .arg("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(holder.stdin.as_mut().unwrap(), "held").unwrap();
    let mut held = String::new();
    let mut copied = BufReader::new(holder.stdout.as_mut().unwrap());
    copied.read_line(&mut held).unwrap();
    assert_eq!(held, "held\n");
    let ingest = ["ingest", "b.folded", "--build", "v3", "--exe", "demo"];
    let mut writer = sandbox.command(&ingest);
    let mut writer = writer
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = String::new();
    let mut stderr = BufReader::new(writer.stderr.take().unwrap());
    stderr.read_line(&mut printed).unwrap();
    let expected = format!("note: waiting for process {} (cat)", holder.id());
    assert!(printed.starts_with(&expected), "{printed}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(writer.wait().unwrap().success());
}

#[test]
fn limit_on_file_sizes_is_an_error() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.store_bytes();
    // Blocks of 512 bytes: too few for any write, and too few for redb's first steps.
    for (store, blocks) in [("store", 8), ("first", 8), ("first", 40), ("second", 200)] {
        let script = format!("ulimit -f {blocks}; exec \"$@\"");
        let ingest = ["ingest", "b.folded", "--build", "v3", "--exe", "demo"];
        let mut command = sandbox.program("sh", &["-c", &script, "sh", env!("CARGO_BIN_EXE_sto")]);
        command.args(ingest).env("STO_STORE", sandbox.path(store));
        let run = Run::new(&mut command).fails_with(&["File too large", "raise the limit", store]);
        for store in ["store", "first", "second"] {
            let left: Vec<_> = files_of(&sandbox.path(store))
                .into_iter()
                .map(|(path, _)| path)
                .collect();
            assert!(
                left.iter().all(|path| path.ends_with("store.redb")),
                "{left:?} {run:?}"
            );
        }
    }
    assert!(sandbox.store_bytes() == before);
}
