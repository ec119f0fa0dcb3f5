//! Full disks, missing permissions and obstructing files give one clear error and status 2, and leave
//! the store unchanged.

use crate::support::{AFTER, Run, Sandbox, files_of};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use sto_test_support::skip;

/// Commands that write, with the file or folder they write to.
const WRITERS: [(&[&str], &str); 3] = [
    (&["ingest", "c.folded", "--build", "v3"], "store"),
    (&["compact"], "store"),
    (&["export-store", "-o", "store/out.sto"], "out.sto"),
];

/// Returns stacks that take a few hundred kilobytes when packed.
fn large() -> String {
    let mut random = 1u64;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 32
    };
    (0..20_000)
        .map(|_| format!("main;f{};g{} {}\n", next() % 1000, next() % 1000, next()))
        .collect()
}

/// Fills the disk of a folder except for this many bytes, and returns the file that fills it.
fn fill(folder: &Path, free: u64) -> std::path::PathBuf {
    let filler = folder.join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    // Until the disk is full.
    std::io::copy(&mut std::io::repeat(1), &mut file).unwrap_err();
    let len = file.metadata().unwrap().len();
    file.set_len(len.saturating_sub(free)).unwrap();
    filler
}

/// Does nothing unless `STO_TEST_DISK` is set; the test below runs it in a namespace that may mount.
#[test]
fn on_a_small_disk() {
    let Some(disk) = std::env::var_os("STO_TEST_DISK") else {
        return;
    };
    let disk = Path::new(&disk);
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"])
        .arg(disk)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("no disk");
        return;
    }
    let sandbox = Sandbox::with_two_builds();
    symlink(disk, sandbox.path("disk")).unwrap();
    sandbox.write("c.folded", large());
    let store = sandbox.path("disk/store");
    fs::create_dir(&store).unwrap();
    let original = fs::read(sandbox.path("store/store.redb")).unwrap();
    let file = store.join("store.redb");
    let sto = |args: &[&str]| Run::new(sandbox.command(args).env("STO_STORE", &store));
    for (command, written) in WRITERS {
        let command: Vec<&str> = command
            .iter()
            .map(|&arg| {
                if arg == "store/out.sto" {
                    "disk/store/out.sto"
                } else {
                    arg
                }
            })
            .collect();
        // Too little for any write, for the first writes, and for the last ones.
        let mut failures = 0;
        for free in [0, 70_000, 140_000, 600_000, 1_200_000] {
            fs::write(&file, &original).unwrap();
            let filler = fill(disk, free);
            let run = sto(&command);
            if run.status != Some(0) {
                run.fails_with(&[
                    "cannot write",
                    written,
                    "No space left",
                    "free some space and try again",
                ]);
                let files = files_of(&store);
                assert!(
                    files == [(file.clone(), original.clone())],
                    "{command:?} at {free}"
                );
                sto(&["top", "v2"]).succeeds();
                failures += 1;
                fs::remove_file(&filler).unwrap();
                sto(&command).succeeds();
            }
            let _ = fs::remove_file(&filler);
            let _ = fs::remove_file(store.join("out.sto"));
            assert_eq!(files_of(&store).len(), 1, "{command:?} at {free}");
        }
        assert!(failures > 0, "{command:?}");
    }
    prune_on_a_full_disk(disk, &sandbox, &sto);
    // A failed first ingestion leaves no store.
    let filler = fill(disk, 70_000);
    let new = disk.join("new");
    let run = Run::new(sandbox.command(WRITERS[0].0).env("STO_STORE", &new));
    run.fails_with(&["cannot write", "No space left"]);
    assert!(!new.exists());
    fs::remove_file(filler).unwrap();
    println!("survived");
}

/// Checks that pruning works on a full disk, because it frees space.
fn prune_on_a_full_disk(disk: &Path, sandbox: &Sandbox, sto: &dyn Fn(&[&str]) -> Run) {
    let file = disk.join("store/store.redb");
    fs::remove_file(&file).unwrap();
    sandbox.write("d.folded", large());
    for (recording, build) in [("c.folded", "v1"), ("d.folded", "v2")] {
        sto(&["ingest", recording, "--build", build, "--exe", "demo"]).succeeds();
    }
    let before = fs::read(&file).unwrap();
    let filler = fill(disk, 0);
    let full = ["prune", "v1"];
    let dry = sto(&[&full[..], &["--dry-run"]].concat()).succeeds();
    assert!(
        dry.stdout.contains("1 profile would be removed, 1 left"),
        "{dry:?}"
    );
    assert!(fs::read(&file).unwrap() == before);
    let run = sto(&full).succeeds();
    assert!(run.stdout.contains("1 profile removed, 1 left"), "{run:?}");
    assert!(
        run.stdout.contains("no room for a compacted copy"),
        "{run:?}"
    );
    sto(&["verify"]).succeeds();
    sto(&["top", "v2"]).succeeds();
    assert!(!sto(&["ls"]).succeeds().stdout.contains("v1"));
    fs::remove_file(&filler).unwrap();
    sto(&["compact"]).succeeds();
    sto(&["verify"]).succeeds();
}

#[test]
fn full_disk_leaves_the_store_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "refused::on_a_small_disk", "--nocapture"])
        .env("STO_TEST_DISK", folder.path())
        .output();
    let Ok(output) = output else {
        skip("no unshare");
        return;
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    if printed.contains("no disk") || !printed.contains("running 1 test") {
        skip("mounting a small disk is not allowed here");
        return;
    }
    assert!(printed.contains("survived"), "{output:?}");
}

/// Runs the command as an unprivileged user, because permissions do not restrict root.
fn unprivileged(sandbox: &Sandbox, args: &[&str]) -> Run {
    set_mode(&sandbox.path(""), 0o755);
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return sandbox.sto(args);
    }
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let sto = [env!("CARGO_BIN_EXE_sto")];
    let mut command = sandbox.program("setpriv", &[&nobody[..], &sto, args].concat());
    Run::new(command.env("STO_STORE", sandbox.path("store")))
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Checks that `sto record` does not run the program if its result could not be stored.
fn assert_does_not_record(sandbox: &Sandbox, store: &str) {
    set_mode(&sandbox.path(""), 0o777);
    let record = ["record", "--store", store, "--", "touch", "ran"];
    unprivileged(sandbox, &record).fails_with(&["Permission denied", "change the permissions"]);
    assert!(!sandbox.path("ran").exists(), "{store}");
}

#[test]
fn read_only_stores_can_be_read() {
    for (folder, file) in [(0o555, 0o444), (0o555, 0o666), (0o777, 0o444)] {
        let sandbox = Sandbox::with_two_builds();
        sandbox.write("c.folded", AFTER);
        let store = sandbox.path("store");
        set_mode(&store.join("store.redb"), file);
        set_mode(&store, folder);
        let before = files_of(&store);
        for (command, _) in WRITERS {
            let run = unprivileged(&sandbox, command);
            // Writing to the folder permits replacing its files, and creating exported ones.
            let may = folder == 0o777 && command[0] != "ingest";
            if may {
                run.succeeds();
                let _ = fs::remove_file(store.join("out.sto"));
                fs::write(store.join("store.redb"), &before[0].1).unwrap();
                continue;
            }
            let run = run.fails_with(&["store", "Permission denied", "change the permissions"]);
            assert!(run.stderr.contains("cannot "), "{run:?}");
            assert_eq!(files_of(&store), before, "{command:?}");
        }
        assert_does_not_record(&sandbox, "store");
        unprivileged(&sandbox, &["top", "v1"]).succeeds();
        set_mode(&store, 0o777);
    }
}

#[test]
fn unreadable_store_is_an_error() {
    let sandbox = Sandbox::with_two_builds();
    let store = sandbox.path("store");
    set_mode(&store.join("store.redb"), 0);
    unprivileged(&sandbox, &["ls"]).fails_with(&["store.redb", "Permission denied"]);
    set_mode(&store, 0);
    unprivileged(&sandbox, &["ls"]).fails_with(&["/store", "Permission denied"]);
    set_mode(&store, 0o777);
}

#[test]
fn folder_that_cannot_be_created_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("c.folded", AFTER);
    let read_only = sandbox.path("place");
    fs::create_dir(&read_only).unwrap();
    set_mode(&read_only, 0o555);
    for missing in ["place/store", "place/a/b/store", "place"] {
        let ingest = ["ingest", "c.folded", "--build", "v1", "--store", missing];
        unprivileged(&sandbox, &ingest).fails_with(&["cannot make", "place", "Permission denied"]);
        assert_eq!(fs::read_dir(&read_only).unwrap().count(), 0);
        assert_does_not_record(&sandbox, missing);
    }
    set_mode(&read_only, 0o777);
}

#[test]
fn links_to_a_store_stay_links() {
    for link_is_folder in [true, false] {
        let sandbox = Sandbox::with_two_builds();
        sandbox.write("c.folded", AFTER);
        let (store, real) = (sandbox.path("store"), sandbox.path("real"));
        fs::rename(&store, &real).unwrap();
        let link = if link_is_folder {
            store.clone()
        } else {
            fs::create_dir(&store).unwrap();
            store.join("store.redb")
        };
        symlink(
            if link_is_folder {
                real.clone()
            } else {
                real.join("store.redb")
            },
            &link,
        )
        .unwrap();
        for command in [
            &["ingest", "c.folded", "--build", "v3", "--exe", "demo"][..],
            &["compact"],
            &["prune", "--keep-last", "1"],
        ] {
            sandbox.sto(command).succeeds();
            assert!(link.is_symlink(), "{command:?}");
            assert_eq!(files_of(&real).len(), 1, "{command:?}");
            assert_eq!(files_of(&store).len(), 1, "{command:?}");
        }
        let left = sandbox.json(&["--store", "real", "ls"]);
        assert_eq!(left["builds"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn dangling_links_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("c.folded", AFTER);
    let ingest = ["ingest", "c.folded", "--build", "v1"];
    symlink(sandbox.path("nothing"), sandbox.path("store")).unwrap();
    sandbox
        .sto(&ingest)
        .fails_with(&["/store", "a store is a folder"]);
    assert!(!sandbox.path("nothing").exists());

    fs::remove_file(sandbox.path("store")).unwrap();
    fs::create_dir(sandbox.path("store")).unwrap();
    symlink(sandbox.path("nothing"), sandbox.path("store/store.redb")).unwrap();
    for command in [&ingest[..], &["ls"], &["compact"]] {
        sandbox
            .sto(command)
            .fails_with(&["store.redb", "a symbolic link to nothing"]);
    }
    assert!(!sandbox.path("nothing").exists());
    assert_eq!(fs::read_dir(sandbox.path("store")).unwrap().count(), 1);
}

#[test]
fn pipe_instead_of_a_store_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("c.folded", AFTER);
    let ingest = ["ingest", "c.folded", "--build", "v1"];
    let mkfifo = |name| Run::new(&mut sandbox.program("mkfifo", &[name])).succeeds();
    mkfifo("store");
    sandbox
        .sto(&ingest)
        .fails_with(&["/store", "a store is a folder"]);
    fs::remove_file(sandbox.path("store")).unwrap();
    fs::create_dir(sandbox.path("store")).unwrap();
    mkfifo("store/store.redb");
    for command in [&ingest[..], &["ls"], &["compact"]] {
        sandbox
            .sto(command)
            .fails_with(&["store.redb", "not a regular file"]);
    }
}

#[test]
fn removes_only_temporary_files_of_killed_processes() {
    let sandbox = Sandbox::with_two_builds();
    let store = sandbox.path("store");
    let left = [
        "store/.store.redb.new-0123456789abcdef",
        "store/.store.redb.made-0123456789abcdef",
    ];
    let ingest = ["ingest", "a.folded", "--build", "v3", "--exe", "demo"];
    for command in [&["compact"][..], &["prune", "--keep-last", "1"], &ingest] {
        for name in left {
            sandbox.write(name, "half a store");
        }
        sandbox.sto(command).succeeds();
        assert_eq!(files_of(&store).len(), 1, "{command:?}");
    }
    // Also without a store.
    for name in left {
        sandbox.write(&name.replacen("store", "first", 1), "half a store");
    }
    let first = ["--store", "first", "ingest", "a.folded"];
    sandbox
        .sto(&[&first[..], &["--build", "v1", "--exe", "demo"]].concat())
        .succeeds();
    assert_eq!(files_of(&sandbox.path("first")).len(), 1);

    // Keep a link, a folder, and a file with a similar name.
    symlink(sandbox.path("a.folded"), sandbox.path(left[0])).unwrap();
    sandbox.write(&format!("{}/file", left[1]), "somebody's");
    sandbox.write("store/.store.redb.new-2026-11-22", "somebody's");
    sandbox.sto(&["compact"]).succeeds();
    assert_eq!(fs::read_dir(&store).unwrap().count(), 4);
    assert!(
        fs::read_to_string(sandbox.path("a.folded"))
            .unwrap()
            .starts_with("main")
    );
}

#[test]
fn rewritten_store_keeps_its_owner() {
    let sandbox = Sandbox::with_two_builds();
    let file = sandbox.path("store/store.redb");
    if std::os::unix::fs::chown(&file, Some(65534), Some(65534)).is_err() {
        eprintln!("SKIPPED: another owner: giving files away needs root");
        return;
    }
    set_mode(&file, 0o640);
    sandbox.sto(&["compact"]).succeeds();
    let now = fs::metadata(&file).unwrap();
    assert_eq!(
        (now.uid(), now.gid(), now.mode() & 0o777),
        (65534, 65534, 0o640)
    );
}
