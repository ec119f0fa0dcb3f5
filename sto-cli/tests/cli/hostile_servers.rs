//! `sto push` and `sto pull` with servers that send nothing, or more than anyone can keep.

use crate::support::{Run, Sandbox};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use sto_test_support::missing;

/// A program that answers the commands of `sto` like `sftp` with a place that has no profiles. `$LIST` and `$GET`
/// are shell commands that list the profiles, and fetch the manifest to the file `$to`.
const SFTP: &str = r#"
while read -r command from to; do
    case "$command $from $to" in
    -version*) echo 'SFTP protocol version 3' ;;
    *manifest.json) echo '-rw-r--r-- 1 0 0 40 Jan 1 00:00 manifest.json' ;;
    -get*) eval "${GET-printf '{\"layout\":\"sto-store\",\"version\":1\}' >\$to}" ;;
    *) eval "${LIST-:}" ;;
    esac
done
"#;

/// Runs `sto pull` with a shell script as the program `name`, which `sftp` is or runs.
fn pull_with(name: &str, script: &str, variables: &[(&str, &str)]) -> Run {
    let sandbox = Sandbox::new();
    let program = sandbox.path("bin").join(name);
    sandbox.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut pull = sandbox.command(&["pull", "ssh://host/place", "--timeout", "300ms"]);
    let path = env::var_os("PATH").unwrap_or_default();
    let path = [sandbox.path("bin")]
        .into_iter()
        .chain(env::split_paths(&path));
    pull.env("PATH", env::join_paths(path).unwrap());
    Run::new(pull.envs(variables.iter().copied()))
}

#[test]
fn server_without_profiles_has_nothing_to_take() {
    let run = pull_with("sftp", SFTP, &[]).succeeds();
    assert!(run.stdout.starts_with("nothing to take"), "{run:?}");
}

#[test]
fn silent_server_is_given_up() {
    for run in [
        pull_with("sftp", "exec cat >silent", &[]),
        pull_with("sftp", SFTP, &[("LIST", "exec cat >silent")]),
        pull_with("sftp", SFTP, &[("GET", "exec cat >silent")]),
    ] {
        run.fails_with(&["the machine does not respond", "no data for 0.3 s"]);
    }
}

#[test]
fn server_that_is_silent_to_sftp_is_given_up() {
    if missing(&["/usr/bin/sftp"]) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("ssh", "#!/bin/sh\nexec cat >/dev/null\n");
    let ssh = sandbox.path("ssh");
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!("exec /usr/bin/sftp -S '{}' \"$@\"", ssh.display());
    let run = pull_with("sftp", &script, &[]);
    run.fails_with(&["the machine does not respond", "no data for 0.3 s"]);
}

#[test]
fn line_without_end_is_an_error() {
    let run = pull_with("sftp", "exec cat /dev/zero", &[]);
    run.fails_with(&["it sent a line of more than 65536 bytes"]);
}

#[test]
fn listing_without_end_is_an_error() {
    let list = format!(
        "yes -- '-rw-r--r-- 1 0 0 40 Jan 1 00:00 {}'",
        "x".repeat(4000)
    );
    let run = pull_with("sftp", SFTP, &[("LIST", &list)]);
    run.fails_with(&["the names of its files exceed 134217728 bytes"]);
}

#[test]
fn folders_without_end_are_an_error() {
    let list = "echo 'drwxr-xr-x 1 0 0 40 Jan 1 00:00 folder'";
    let run = pull_with("sftp", SFTP, &[("LIST", list)]);
    run.fails_with(&["the path is too long for sftp"]);
}

#[test]
fn file_without_end_is_an_error() {
    let run = pull_with("sftp", SFTP, &[("GET", "cat /dev/zero >$to")]);
    run.fails_with(&["cannot read manifest.json", "the file is too large"]);
}
