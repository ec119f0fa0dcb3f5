//! The place of a store: folders, files in the way, permissions, locks, full disks.

use super::model::{Plain, add, answer, build, forest, of_stacks, profile};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use sto_core::store::{Snapshot, Store, StoreError, StoreOptions};
use sto_test_support::skip;

fn message(result: Result<Store, StoreError>) -> String {
    match result {
        Ok(_) => panic!("it opened"),
        Err(error) => error.to_string(),
    }
}

/// Every file and folder below a path, with the contents of files.
fn snapshot(path: &Path) -> Vec<(std::path::PathBuf, Option<Vec<u8>>)> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            entries.push((path.clone(), None));
            entries.extend(snapshot(&path));
        } else {
            entries.push((path.clone(), Some(fs::read(&path).unwrap())));
        }
    }
    entries.sort();
    entries
}

#[test]
fn reading_does_not_create_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("a/b");
    let error = message(Store::open(&missing));
    assert!(
        error.contains("there is no store in") && error.contains("a/b"),
        "{error}"
    );
    message(Store::open(folder.path()));
    assert!(snapshot(folder.path()).is_empty());
}

#[test]
fn first_profile_creates_the_store_and_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let store = Store::open_or_create(&path).unwrap();
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
    assert_eq!(store.file_size().unwrap().0, 0);
    assert!(
        snapshot(folder.path()).is_empty(),
        "opening leaves no trace"
    );
    add(&store, "v1", "source", &of_stacks(&[&[1]]));
    assert_eq!(snapshot(&path).len(), 1, "the store's file is alone");
    assert_eq!(
        Snapshot::open(&path, StoreOptions::default())
            .unwrap()
            .builds()
            .unwrap()
            .len(),
        1
    );
    assert!((1..200_000).contains(&store.file_size().unwrap().0));
}

#[test]
fn reports_a_file_in_place_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "hello").unwrap();
    for (path, says) in [
        (file.clone(), "/file: not a store: it is not a redb file"),
        (file.join("store"), "/file: a store is a folder"),
    ] {
        for result in [Store::open(&path), Store::open_or_create(&path)] {
            let error = message(result);
            assert!(error.contains(says), "{error}");
        }
    }
    assert_eq!(fs::read(&file).unwrap(), b"hello");
}

#[test]
fn rejects_and_keeps_files_that_are_not_stores() {
    for (content, found) in [
        (&b"hello, world"[..], "it starts with \"hello, wo\""),
        (b"\x1b[31m", "it starts with \"\\x1b[31m\""),
        (b"", "it is empty"),
        (b"redb", "it starts with \"redb\""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(Store::FILE_NAME), content).unwrap();
        let before = snapshot(folder.path());
        for result in [
            Store::open(folder.path()),
            Store::open_or_create(folder.path()),
        ] {
            let error = message(result);
            assert!(
                error.contains(found) && error.contains("store.redb"),
                "{error}"
            );
        }
        assert_eq!(snapshot(folder.path()), before);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(Store::FILE_NAME)).unwrap();
    let error = message(Store::open(folder.path()));
    assert!(error.contains("it is a folder"), "{error}");
}

#[test]
fn rejects_redb_files_of_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(Store::FILE_NAME);
    drop(redb::Database::create(&path).unwrap());
    let before = fs::read(&path).unwrap();
    let error = message(Store::open_or_create(folder.path()));
    assert!(
        error.contains("not a store: it is a redb file of another program"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn follows_symbolic_links_and_reports_loops() {
    let folder = tempfile::tempdir().unwrap();
    let looped = folder.path().join("loop");
    std::os::unix::fs::symlink(&looped, &looped).unwrap();
    let error = message(Store::open_or_create(&looped));
    assert!(
        error.contains("loop") && error.contains("symbolic links"),
        "{error}"
    );

    let store = Store::open_or_create(&folder.path().join("real")).unwrap();
    add(&store, "v1", "source", &of_stacks(&[&[1]]));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("real"), &link).unwrap();
    assert_eq!(
        Snapshot::open(&link, StoreOptions::default())
            .unwrap()
            .builds()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn concurrent_readers_see_complete_profiles() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for i in 0..8u16 {
            let path = folder.path();
            scope.spawn(move || {
                let store = Store::open_or_create(path).unwrap();
                add(
                    &store,
                    "v1",
                    &format!("source {i}"),
                    &of_stacks(&[&[1, i], &[2]]),
                );
                for profile in &store.snapshot().unwrap().builds().unwrap()[0].profiles {
                    answer(&store, &[profile.id]).unwrap();
                }
            });
        }
    });
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(
        store.snapshot().unwrap().builds().unwrap()[0]
            .profiles
            .len(),
        8
    );
    assert_eq!(
        snapshot(folder.path()).len(),
        1,
        "no temporary files are left"
    );
}

/// Runs one test of this file in a separate process, with a shell command before it.
fn rerun(test: &str, shell: &str, folder: &Path, stacks: usize) -> std::process::Output {
    let this = std::env::current_exe().unwrap();
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{shell} exec \"$0\" --exact store::folder::{test} --nocapture"
        ))
        .arg(this)
        .env("STO_TEST_STORE", folder)
        .env("STO_TEST_STACKS", stacks.to_string())
        .output()
        .unwrap()
}

/// A profile that takes about 8 bytes per stack, as its values have all sizes.
fn incompressible(stacks: usize) -> Plain {
    let mut plain = forest(stacks, 2000, 11);
    let mut value = 1u64;
    for cost in plain.costs[0].values_mut() {
        value = value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        cost.value = value >> 26;
    }
    plain
}

/// Adds an incompressible profile to the store in the environment variable and prints the outcome. It is a part of
/// the test below, and does nothing without the variable.
#[test]
fn add_in_child_process() {
    let Some(folder) = std::env::var_os("STO_TEST_STORE") else {
        return;
    };
    let stacks = std::env::var("STO_TEST_STACKS").unwrap();
    let plain = incompressible(stacks.parse().unwrap());
    let build = build("v2");
    let profile = profile(&build, "large", &plain);
    let result = Store::open_or_create(Path::new(&folder))
        .and_then(|store| store.writer().add(&build, &profile, &plain.interned()));
    match result {
        Ok(added) => println!("added: {added:?}"),
        Err(error) => println!("error: {error}"),
    }
}

/// Checks that the profile is rejected, and that the store is unchanged.
fn assert_does_not_fit(folder: &Path, shell: &str, stacks: usize, expected: &str) {
    let store = Store::open_or_create(folder).unwrap();
    let id = add(&store, "v1", "small", &of_stacks(&[&[1, 2], &[3]]));
    let before = answer(&store, &[id]).unwrap();
    let listed = format!("{:?}", store.snapshot().unwrap().builds().unwrap());

    let output = rerun("add_in_child_process", shell, folder, stacks);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("error: cannot write") && text.contains(expected),
        "{text}"
    );

    // While there is no space, and after that.
    let store = Store::open(folder).unwrap();
    assert_eq!(answer(&store, &[id]).unwrap(), before);
    assert_eq!(
        format!("{:?}", store.snapshot().unwrap().builds().unwrap()),
        listed
    );
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_leaves_the_store_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=300k", "tmpfs"])
        .arg(folder.path())
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        skip("a full disk needs root");
        return;
    }
    let result = std::panic::catch_unwind(|| {
        let output = rerun(
            "add_in_child_process",
            "",
            &folder.path().join("new"),
            30_000,
        );
        assert!(String::from_utf8_lossy(&output.stdout).contains("error: cannot write"));
        assert!(snapshot(folder.path()).is_empty(), "nothing is left of it");
        assert_does_not_fit(folder.path(), "", 30_000, "free some space and try again");
        let store = Store::open_or_create(folder.path()).unwrap();
        add(&store, "v1", "small too", &of_stacks(&[&[4]]));
        assert_eq!(
            store.snapshot().unwrap().builds().unwrap()[0]
                .profiles
                .len(),
            2
        );
    });
    Command::new("umount").arg(folder.path()).status().unwrap();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

#[cfg(unix)]
#[test]
fn file_size_limit_leaves_the_store_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    // In blocks of 512 bytes; the signal sent at the limit would end the process.
    let shell = "trap '' XFSZ; ulimit -f 400;";
    assert_does_not_fit(folder.path(), shell, 15_000, "raise the limit");
    let store = Store::open_or_create(folder.path()).unwrap();
    add(&store, "v2", "large", &incompressible(15_000));
    assert_eq!(store.snapshot().unwrap().builds().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn reads_but_does_not_write_a_read_only_store() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let id = add(&store, "v1", "source", &of_stacks(&[&[1]]));
    let file = folder.path().join(Store::FILE_NAME);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::OpenOptions::new().write(true).open(&file).is_ok() {
        eprintln!("SKIPPED: permissions: this user may write whatever they say");
    } else {
        let build = build("v2");
        let plain = of_stacks(&[&[2]]);
        let error = store
            .writer()
            .add(&build, &profile(&build, "other", &plain), &plain.interned())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cannot write") && error.contains("change the permissions"),
            "{error}"
        );
        let new = Store::open_or_create(&folder.path().join("new")).unwrap();
        let error = new
            .writer()
            .add(&build, &profile(&build, "other", &plain), &plain.interned())
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot make"), "{error}");
    }
    answer(&store, &[id]).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn reads_but_does_not_write_an_unclosed_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let id = add(&store, "v1", "source", &forest(500, 100, 1));
    let expected = answer(&store, &[id]).unwrap();

    // While redb has the file open for writing, it is marked as not closed.
    let file = folder.path().join(Store::FILE_NAME);
    let writer = redb::Database::open(&file).unwrap();
    let killed = tempfile::tempdir().unwrap();
    fs::copy(&file, killed.path().join(Store::FILE_NAME)).unwrap();
    drop(writer);

    let before = snapshot(killed.path());
    let store = Store::open(killed.path()).unwrap();
    assert_eq!(answer(&store, &[id]).unwrap(), expected);
    assert_eq!(snapshot(killed.path()), before);
    add(&store, "v1", "more", &of_stacks(&[&[1]]));
    assert_eq!(answer(&store, &[id]).unwrap(), expected);
}

/// Adds profiles to the store in the environment variable and prints their number until it is killed. It is a part
/// of the test below, and does nothing without the variable.
#[test]
fn add_many_in_child_process() {
    let Some(folder) = std::env::var_os("STO_TEST_STORE") else {
        return;
    };
    let store = Store::open_or_create(Path::new(&folder)).unwrap();
    let start = store
        .snapshot()
        .unwrap()
        .builds()
        .unwrap()
        .first()
        .map_or(0, |build| build.profiles.len());
    for i in start.. {
        add(
            &store,
            "v1",
            &format!("source {i}"),
            &forest(100, 50, i as u64),
        );
        println!("added {i}");
    }
}

#[test]
fn killed_writer_keeps_the_reported_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let mut reported = 0;
    for round in 0..10u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store::folder::add_many_in_child_process",
                "--nocapture",
            ])
            .env("STO_TEST_STORE", folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut added = |line: std::io::Result<String>| {
            let line = line.unwrap();
            let number = line
                .rsplit_once("added ")
                .map(|(_, number)| number.to_owned());
            if let Some(number) = number {
                reported = number.parse::<usize>().unwrap() + 1;
            }
            line.contains("added ")
        };
        // In the first round it is killed before it has printed anything.
        for _ in 0..round {
            while !added(lines.next().unwrap()) {}
        }
        child.kill().unwrap();
        for line in lines {
            added(line);
        }
        child.wait().unwrap();
        let Ok(store) = Store::open(folder.path()) else {
            assert_eq!(reported, 0, "round {round}");
            continue;
        };
        let builds = store.snapshot().unwrap().builds().unwrap();
        let profiles: Vec<_> = builds.iter().flat_map(|build| &build.profiles).collect();
        let found = profiles.len();
        assert!(
            (reported..=reported + 1).contains(&found),
            "{found} of {reported}"
        );
        reported = found;
        for profile in profiles {
            answer(&store, &[profile.id]).unwrap();
        }
    }
    assert!(reported > 0);
}
