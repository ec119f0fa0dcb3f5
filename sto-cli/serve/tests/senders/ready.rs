//! Whether a server is ready while it reads the profiles that an earlier one acknowledged.

use crate::support::Server;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn a_server_is_ready_when_it_has_read_the_spool() {
    let folder = TempDir::new().unwrap();
    let spool = folder.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    // Reading a pipe waits until it is written to.
    let segment = spool.join("0000000001.spool");
    let made = Command::new("mkfifo").arg(&segment).status().unwrap();
    assert!(made.success());
    let server = Server::start_in(folder);
    assert_eq!(server.get("/healthz", &[]).status, 200);
    server
        .get("/readyz", &[])
        .assert_problem(503, "in the spool");

    // A damaged record ends the reading, and the rest cannot be put aside.
    let mut pipe = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&segment)
        .unwrap();
    pipe.write_all(&[0; 24]).unwrap();
    let sent = server.post("/ingest?name=shop", &[], b"main 1\n");
    sent.assert_problem(503, "profiles of services cannot be stored");
    assert_eq!(server.get("/readyz", &[]).status, 200);
}

#[test]
fn a_server_without_a_spool_is_ready_when_it_takes_profiles() {
    let server = Server::start();
    assert_eq!(
        server.post("/ingest?name=shop", &[], b"main 1\n").status,
        200
    );
    assert_eq!(server.get("/readyz", &[]).status, 200);
}
