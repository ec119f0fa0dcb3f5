//! `sto push` and `sto pull`, with and without failures on the way.

use crate::support::{Run, Sandbox, killed_after};
use serde_json::json;
use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_test_support::servers::{Moto, Sshd, free_port};
use sto_test_support::{is_there, skip};

/// A sandbox whose store has `profiles` of two builds, with a benchmark, a metric, and lines.
fn with_profiles(profiles: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    for (build, version) in ["v1", "v2"].into_iter().enumerate() {
        let mut ingest = vec!["ingest".to_owned()];
        let numbers = (build..profiles).step_by(2);
        if numbers.len() == 0 {
            continue;
        }
        for number in numbers {
            let text = format!("main;work;compute {}\nmain;idle 900\n", 9000 + number);
            let name = format!("{number}.folded");
            sandbox.write(&name, text);
            ingest.push(name);
        }
        let options = [
            "--build",
            version,
            "--exe",
            "demo",
            "--benchmark",
            "b",
            "--metric",
            "n=1",
        ];
        ingest.extend(options.map(str::to_owned));
        let ingest: Vec<&str> = ingest.iter().map(String::as_str).collect();
        sandbox.sto(&ingest).succeeds();
    }
    sandbox
}

/// Exports a store to one file and returns its bytes, which only depend on its profiles.
fn exported(sandbox: &Sandbox, store: &str) -> Vec<u8> {
    let file = sandbox.path("exported.sto");
    let _ = fs::remove_file(&file);
    sandbox
        .sto(&["--store", store, "export-store", "-o", "exported.sto"])
        .succeeds();
    fs::read(file).unwrap()
}

fn files(place: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = crate::support::files_of(&place.join("profiles"));
    files.sort();
    files
}

/// Returns the file of the only profile at a place.
fn only_file(place: &Path) -> PathBuf {
    files(place).remove(0).0
}

#[test]
fn pull_restores_pushed_profiles_to_the_byte() {
    let sandbox = with_profiles(5);
    let output = sandbox.sto(&["push", "place", "-n"]).succeeds().stdout;
    assert_eq!(output, "would send 5 profiles to place; 0 are there\n");
    assert!(!sandbox.path("place").exists());
    let output = sandbox.sto(&["push", "place", "v1"]).succeeds().stdout;
    assert!(output.starts_with("sent 3 profiles ("), "{output}");
    let before = files(&sandbox.path("place"));
    let output = sandbox.sto(&["push", "place"]).succeeds().stdout;
    assert!(output.starts_with("sent 2 profiles ("), "{output}");
    assert!(output.ends_with(") to place; 3 were there\n"), "{output}");
    let all = files(&sandbox.path("place"));
    assert!(before.iter().all(|file| all.contains(file)));
    let output = sandbox.sto(&["push", "place"]).succeeds().stdout;
    assert_eq!(
        output,
        "nothing to send to place; all 5 profiles are there\n"
    );
    assert_eq!(files(&sandbox.path("place")), all);
    assert_eq!(
        fs::read_to_string(sandbox.path("place/manifest.json")).unwrap(),
        "{\"layout\":\"sto-store\",\"version\":1}\n"
    );

    let pull = ["--store", "other", "pull", "place"];
    let output = sandbox
        .sto(&[&pull[..], &["--dry-run"]].concat())
        .succeeds()
        .stdout;
    assert!(output.starts_with("would take 5 profiles ("), "{output}");
    assert!(!sandbox.path("other").exists());
    let output = sandbox.sto(&pull).succeeds().stdout;
    assert!(output.starts_with("took 5 profiles ("), "{output}");
    assert!(output.ends_with(") from place; 0 were here\n"), "{output}");
    assert!(exported(&sandbox, "other") == exported(&sandbox, "store"));
    let output = sandbox.sto(&pull).succeeds().stdout;
    assert_eq!(
        output,
        "nothing to take from place; all 5 profiles are here\n"
    );

    // Another store with the same profiles sends the same bytes.
    sandbox
        .sto(&["--store", "other", "push", "again"])
        .succeeds();
    let bytes = |place| {
        files(&sandbox.path(place))
            .into_iter()
            .map(|(_, bytes)| bytes)
            .collect::<Vec<_>>()
    };
    assert!(bytes("again") == bytes("place"));
}

#[test]
fn json_has_the_same_content_as_text() {
    let sandbox = with_profiles(2);
    let pushed = sandbox.json(&["push", "place"]);
    assert_eq!(pushed["schema"], "sto.push/1");
    assert_eq!(pushed["place"], "place");
    assert_eq!(pushed["already_there"], 0);
    let ids = pushed["sent"].as_array().unwrap().clone();
    assert_eq!(ids.len(), 2);
    let pulled = sandbox.json(&["--store", "other", "pull", "place"]);
    assert_eq!(pulled["schema"], "sto.pull/1");
    assert_eq!(pulled["store"], "other");
    assert_eq!(pulled["received_bytes"], pushed["sent_bytes"]);
    assert_eq!(pulled["profiles"], 2);
    assert_eq!(pulled["left_out"], json!([]));
    let mut added = pulled["added"].as_array().unwrap().clone();
    added.sort_by_key(ToString::to_string);
    assert_eq!(added, ids);
    let run = sandbox.sto(&["--store", "other", "verify"]).succeeds();
    assert!(run.stdout.contains("sound"), "{run:?}");
}

#[test]
fn leaves_out_profiles_whose_content_does_not_match_their_name() {
    let sandbox = with_profiles(4);
    sandbox.sto(&["push", "place"]).succeeds();
    let files = files(&sandbox.path("place"));
    let name = |file: usize| {
        files[file]
            .0
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    // One file is truncated, one is another profile's, and one is not a store. Other files are ignored.
    fs::write(&files[0].0, &files[0].1[..files[0].1.len() / 2]).unwrap();
    fs::write(&files[1].0, &files[2].1).unwrap();
    fs::write(sandbox.path("place/profiles/README"), "what is here").unwrap();
    let foreign = format!("place/profiles/{}.sto.zst", "f".repeat(32));
    fs::write(sandbox.path(&foreign), "text").unwrap();
    let run = sandbox.sto(&["--store", "other", "pull", "place"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stdout.starts_with("took 2 profiles ("), "{run:?}");
    for (name, why) in [
        (name(0), "not a store"),
        (name(1), "it contains other profiles than its name says"),
        ("f".repeat(32), "not a store"),
    ] {
        let line = run.stdout.lines().find(|line| line.contains(&name));
        assert!(
            line.is_some_and(|line| line.contains(why)),
            "{name}: {run:?}"
        );
    }
    assert!(run.stderr.contains("3 left out"), "{run:?}");
    // The pulled profiles are intact; pushing the others again repairs the place.
    sandbox.sto(&["--store", "other", "verify"]).succeeds();
    for (path, _) in &files[..2] {
        fs::remove_file(path).unwrap();
    }
    fs::remove_file(sandbox.path(&foreign)).unwrap();
    sandbox.sto(&["push", "place"]).succeeds();
    let output = sandbox
        .sto(&["--store", "other", "pull", "place"])
        .succeeds()
        .stdout;
    assert!(output.starts_with("took 2 profiles ("), "{output}");
    assert!(exported(&sandbox, "other") == exported(&sandbox, "store"));
}

#[test]
fn push_names_what_has_a_profiles_name_but_is_not_the_profile() {
    let sandbox = with_profiles(8);
    sandbox.sto(&["push", "place"]).succeeds();
    let files = files(&sandbox.path("place"));
    for (path, _) in &files[2..6] {
        fs::remove_file(path).unwrap();
    }
    fs::write(&files[0].0, &files[0].1[..files[0].1.len() - 1]).unwrap();
    fs::write(&files[1].0, &files[6].1).unwrap();
    let fifo = Command::new("mkfifo").arg(&files[2].0).status();
    assert!(fifo.unwrap().success());
    symlink("nowhere", &files[3].0).unwrap();
    symlink(&files[6].0, &files[4].0).unwrap();
    fs::create_dir(&files[5].0).unwrap();

    let run = sandbox.sto(&["push", "place"]);
    assert_eq!(run.status, Some(2));
    assert!(
        run.stdout
            .starts_with("nothing to send to place; 2 are there\n"),
        "{run:?}"
    );
    let not_a_file = "a link, folder or pipe has this name; remove it";
    let other = "it contains other profiles than its name says";
    for (file, why) in [
        (0, "not a store"),
        (1, other),
        (2, not_a_file),
        (3, not_a_file),
        (4, not_a_file),
        (5, not_a_file),
    ] {
        let name = files[file].0.file_name().unwrap().to_str().unwrap();
        let line = run.stdout.lines().find(|line| line.contains(name));
        assert!(
            line.is_some_and(|line| line.contains(why)),
            "{name}: {run:?}"
        );
    }
    assert!(run.stderr.contains("6 left out"), "{run:?}");

    for (path, _) in &files[..5] {
        fs::remove_file(path).unwrap();
    }
    fs::remove_dir(&files[5].0).unwrap();
    let output = sandbox.sto(&["push", "place"]).succeeds().stdout;
    assert!(output.starts_with("sent 6 profiles ("), "{output}");
    assert!(self::files(&sandbox.path("place")) == files);
}

/// Before profiles had seals, their files had the same content without them.
#[test]
fn files_without_a_seal_are_profiles_too() {
    let sandbox = with_profiles(1);
    sandbox.sto(&["push", "place"]).succeeds();
    let file = only_file(&sandbox.path("place"));
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 40]).unwrap();
    let output = sandbox.sto(&["push", "place"]).succeeds().stdout;
    assert!(output.contains("the only profile is there"), "{output}");
    sandbox
        .sto(&["--store", "other", "pull", "place"])
        .succeeds();
}

/// A push reads only the end of the file.
#[test]
fn pull_leaves_out_a_file_that_does_not_match_its_seal() {
    let sandbox = with_profiles(1);
    sandbox.sto(&["push", "place"]).succeeds();
    let file = only_file(&sandbox.path("place"));
    let mut bytes = fs::read(&file).unwrap();
    bytes[0] ^= 1;
    fs::write(&file, bytes).unwrap();
    let output = sandbox.sto(&["push", "place"]).succeeds().stdout;
    assert!(output.contains("the only profile is there"), "{output}");
    let run = sandbox.sto(&["--store", "other", "pull", "place"]);
    assert_eq!(run.status, Some(2));
    assert!(
        run.stdout
            .contains("it differs from the file that was sent"),
        "{run:?}"
    );
}

#[test]
fn does_not_touch_a_folder_that_is_not_a_place() {
    let sandbox = with_profiles(1);
    sandbox.write("full/letter.txt", "text");
    sandbox.write("app/manifest.json", "{\"name\":\"app\"}");
    sandbox.write(
        "next/manifest.json",
        "{\"layout\":\"sto-store\",\"version\":2}",
    );
    sandbox.write(
        "lake/manifest.json",
        "{\"layout\":\"sto-lake\",\"version\":1}",
    );
    sandbox.write("file", "");
    for (place, why) in [
        ("full", "no manifest.json of `sto-store`"),
        ("app", "its manifest.json is not one of `sto-store`"),
        (
            "next",
            "it is `sto-store 2`, and this sto knows `sto-store 1`",
        ),
        ("lake", "it is `sto-lake 1`"),
        ("file", "Not a directory"),
        ("s3://", "invalid name of a bucket"),
        ("ftp://host/x", "`ftp` is not a kind of place"),
    ] {
        for command in ["push", "pull"] {
            sandbox.sto(&[command, place]).fails_with(&[place, why]);
        }
    }
    assert_eq!(fs::read_dir(sandbox.path("full")).unwrap().count(), 1);
    for place in ["none", "ssh-host/x"] {
        sandbox
            .sto(&["pull", place])
            .fails_with(&[place, "the place is empty"]);
        assert!(!sandbox.path(place).exists());
    }
    let run = sandbox.sto(&["push", "place", "v9"]);
    run.fails_with(&["v9"]);
    assert!(!sandbox.path("place").exists());
}

#[test]
fn reports_an_unwritable_folder_and_resumes_later() {
    let sandbox = with_profiles(1);
    if fs::read("/etc/shadow").is_ok() {
        return skip("root may write anywhere");
    }
    fs::create_dir(sandbox.path("place")).unwrap();
    let mode = |mode| {
        fs::set_permissions(sandbox.path("place"), fs::Permissions::from_mode(mode)).unwrap()
    };
    mode(0o500);
    let run = sandbox.sto(&["push", "place"]);
    mode(0o700);
    run.fails_with(&[
        "place: cannot write manifest.json",
        "change the permissions",
    ]);
    sandbox.sto(&["push", "place"]).succeeds();
}

#[test]
fn resumes_a_killed_push_or_pull() {
    let sandbox = with_profiles(12);
    let place = sandbox.path("place");
    let mut cut = 0;
    for changes in [1, 3, 8, 14] {
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("profiles")).unwrap();
        fs::write(
            place.join("manifest.json"),
            "{\"layout\":\"sto-store\",\"version\":1}",
        )
        .unwrap();
        let (killed, _) = killed_after(
            changes,
            &place.join("profiles"),
            sandbox.command(&["push", "place"]),
        );
        cut += usize::from(!killed.status.success());
        sandbox.sto(&["push", "place"]).succeeds();

        let _ = fs::remove_dir_all(sandbox.path("other"));
        let pull = ["--store", "other", "pull", "place"];
        let (killed, _) = killed_after(changes, &sandbox.path("other"), sandbox.command(&pull));
        cut += usize::from(!killed.status.success());
        sandbox.sto(&pull).succeeds();
        assert!(exported(&sandbox, "other") == exported(&sandbox, "store"));
    }
    assert!(cut > 0, "nothing was killed before its end");
}

/// Checks that two stores with a common profile can repeatedly push to a place at once without losing profiles.
fn assert_concurrent_pushes_lose_nothing(
    command: &dyn Fn(&Sandbox, &[&str]) -> Command,
    place: &str,
) {
    let sandbox = with_profiles(6);
    for (store, from) in [("one", "v1"), ("two", "v2")] {
        sandbox
            .sto(&["export-store", from, "-o", "part.sto"])
            .succeeds();
        sandbox
            .sto(&["--store", store, "merge", "part.sto"])
            .succeeds();
        fs::remove_file(sandbox.path("part.sto")).unwrap();
    }
    let stores = ["one", "two", "store", "store"];
    let pushes = stores.map(|store| {
        let mut push = command(&sandbox, &["--store", store, "push", place]);
        push.stdout(std::process::Stdio::piped());
        push.stderr(std::process::Stdio::piped());
        push.spawn().unwrap()
    });
    for push in pushes {
        Run::from(push.wait_with_output().unwrap()).succeeds();
    }
    let output = Run::new(&mut command(&sandbox, &["push", place]))
        .succeeds()
        .stdout;
    assert!(output.contains("all 6 profiles are there"), "{output}");
    Run::new(&mut command(&sandbox, &["--store", "other", "pull", place])).succeeds();
    assert!(exported(&sandbox, "other") == exported(&sandbox, "store"));
}

#[test]
fn concurrent_pushes_to_a_folder_lose_nothing() {
    assert_concurrent_pushes_lose_nothing(&|sandbox, args| sandbox.command(args), "place");
}

#[test]
fn concurrent_pushes_to_a_bucket_lose_nothing() {
    let Some(moto) = Moto::start() else { return };
    let command = |sandbox: &Sandbox, args: &[&str]| {
        let mut command = sandbox.command(args);
        command.envs(moto.variables());
        command
    };
    assert_concurrent_pushes_lose_nothing(&command, "s3://bucket/some/folder");
    let sandbox = with_profiles(1);
    let gone = Run::new(&mut command(&sandbox, &["push", "s3://gone/x"]));
    gone.fails_with(&["s3://gone/x: ", "there is no such bucket"]);
}

/// The command with an `sftp` first in `$PATH` that knows this server's keys.
fn by_ssh(sandbox: &Sandbox, bin: &Path, args: &[&str]) -> Command {
    let mut command = sandbox.command(args);
    let path = env::var_os("PATH").unwrap_or_default();
    let path = [bin.to_owned()].into_iter().chain(env::split_paths(&path));
    command.env("PATH", env::join_paths(path).unwrap());
    command
}

#[test]
fn concurrent_pushes_by_ssh_lose_nothing() {
    let there = tempfile::tempdir().unwrap();
    let Some(server) = Sshd::start(there.path()) else {
        return;
    };
    let bin = there.path().join("bin");
    let command = |sandbox: &Sandbox, args: &[&str]| by_ssh(sandbox, &bin, args);
    // A name with special characters of shells and patterns.
    let folder = there.path().join("a b/$(touch x)*[y]'\"#\\~");
    let place = format!("ssh://127.0.0.1:{}{}", server.port, folder.display());
    assert_concurrent_pushes_lose_nothing(&command, &place);
    let left = files(&folder);
    assert_eq!(left.len(), 6, "nothing that is not complete");
    for (file, _) in left {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777 & !0o044, 0o600, "as of a usual file");
    }

    let sandbox = with_profiles(2);
    // The folder on the server is a place, too.
    let push = Run::new(&mut command(&sandbox, &["push", &place]));
    assert!(push.succeeds().stdout.starts_with("sent 2 profiles") || only_file(&folder).exists());
    let (host, port) = ("127.0.0.1", server.port);
    for (place, why) in [
        (
            format!("ssh://{host}:{}/x", free_port()),
            "the machine does not respond",
        ),
        ("ssh://nobody.invalid/x".to_owned(), "unknown host name"),
        (
            format!("ssh://no-such-user@{host}:{port}/x"),
            "it does not let this user in",
        ),
        (
            format!("ssh://localhost:{port}/x"),
            "connect once with `ssh`",
        ),
        (
            format!("ssh://{host}:{port}/proc/x"),
            "cannot write manifest.json",
        ),
    ] {
        let run = Run::new(&mut command(&sandbox, &["push", &place]));
        run.fails_with(&[&place, why]);
    }
    // A folder with one file has the name of a profile's file.
    let other = with_profiles(1);
    let nested = format!("{place}/other");
    Run::new(&mut command(&other, &["push", &nested])).succeeds();
    let file = only_file(&folder.join("other"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fs::write(file.join("file"), "").unwrap();
    let run = Run::new(&mut command(&other, &["push", &nested]));
    assert!(
        run.stdout.contains("a link, folder or pipe has this name"),
        "{run:?}"
    );
    let mut without = sandbox.command(&["push", &place]);
    without.env("PATH", sandbox.path("home"));
    Run::new(&mut without).fails_with(&["the program `sftp` is not installed"]);
    assert!(is_there("sftp"));
}

#[test]
fn reports_rejected_credentials_of_a_bucket() {
    let Some(moto) = Moto::start_strict() else {
        return;
    };
    let sandbox = with_profiles(1);
    let mut push = sandbox.command(&["push", "s3://bucket/x"]);
    let run = Run::new(push.envs(moto.variables()));
    run.fails_with(&[
        "s3://bucket/x: ",
        "it does not accept the credentials; set AWS_ACCESS_KEY_ID",
    ]);
}
