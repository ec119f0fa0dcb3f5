//! `sto verify` and `sto stats`.

use crate::support::Sandbox;
use serde_json::Value;

#[test]
fn intact_store_is_one_sentence_and_status_0() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.store_bytes();
    let run = sandbox.sto(&["verify"]).succeeds();
    let sound = "The store is sound: 2 profiles of 2 builds, with 5 nodes of 5 frames.\n";
    assert_eq!(run.stdout, sound);
    assert_eq!(run.stderr, "");
    let json = sandbox.json(&["verify"]);
    assert_eq!(json["sound"], true);
    assert_eq!(json["checked"]["profiles"], 2);
    assert_eq!(json["damages"], Value::Array(Vec::new()));
    assert!(sandbox.store_bytes() == before, "nothing was written");
}

#[test]
fn damaged_store_is_reported_with_status_2() {
    let sandbox = Sandbox::with_two_builds();
    let mut file = sandbox.store_bytes().remove(0).1;
    // A record contains the executable's name uncompressed.
    let name = file.windows(5).rposition(|bytes| bytes == b"\x04demo");
    file[name.unwrap() + 1] ^= 1;
    sandbox.write("store/store.redb", file);

    let run = sandbox.sto(&["verify"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stdout.starts_with("The store is damaged in "),
        "{run:?}"
    );
    assert!(run.stdout.lines().all(|line| line.len() <= 80), "{run:?}");
    assert!(run.stderr.starts_with("error: "), "{run:?}");
    assert!(run.stderr.contains("hint: restore a backup"), "{run:?}");

    let json = sandbox.json(&["verify"]);
    assert_eq!(json["sound"], false);
    let damages = json["damages"].as_array().unwrap();
    let of_records = damages.iter().find(|damage| {
        damage["place"]
            .as_str()
            .unwrap()
            .starts_with("table records, ")
    });
    let what = of_records.unwrap()["what"].as_str().unwrap();
    assert_eq!(what, "the checksum does not match the content");
}

/// redb panics when it reads some of these pages.
#[test]
fn damaged_pages_show_no_panic() {
    let sandbox = Sandbox::with_two_builds();
    let sound = sandbox.store_bytes().remove(0).1;
    let mut panics = 0;
    for at in (0..sound.len()).step_by(4096) {
        let mut file = sound.clone();
        file[at..][..4096].fill(0);
        sandbox.write("store/store.redb", file);
        for command in ["ls", "verify"] {
            let run = sandbox.sto(&[command]);
            assert_ne!(run.status, Some(101), "{run:?}");
            assert!(!run.stderr.contains("panicked"), "{run:?}");
            panics += usize::from(run.stdout.contains("redb cannot read it"));
        }
    }
    assert!(panics > 0);
}

/// redb panics on some damaged parts of a store whose writer was killed, when the store is closed after reading.
#[test]
fn damaged_unrepaired_store_always_has_an_error_message() {
    const RECOVERY_REQUIRED: u8 = 2;
    let sandbox = Sandbox::with_two_builds();
    let mut unrepaired = sandbox.store_bytes().remove(0).1;
    unrepaired[9] |= RECOVERY_REQUIRED;
    for at in (512..unrepaired.len()).step_by(512) {
        let mut file = unrepaired.clone();
        file[at..][..512].fill(0);
        sandbox.write("store/store.redb", file);
        let run = sandbox.sto(&["top", "demo@v1"]);
        let message = match run.status {
            Some(0) => &run.stdout,
            _ => &run.stderr,
        };
        assert!(
            matches!(run.status, Some(0 | 2)) && !message.is_empty(),
            "{at}: {run:?}"
        );
    }
}

#[test]
fn parts_of_the_file_add_up_to_its_size() {
    let sandbox = Sandbox::with_two_builds();
    let json = sandbox.json(&["stats"]);
    let size = sandbox.store_bytes()[0].1.len() as u64;
    assert_eq!(json["file_bytes"], size);
    let parts = json["parts"].as_array().unwrap().iter();
    let sum: u64 = parts.map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(sum, size);
    assert_eq!(json["profiles"], 2);
    assert_eq!(json["executables"][0]["executable"], "demo");
    assert_eq!(json["saving"], sandbox.json(&["ls"])["saving"]);
    let text = sandbox.sto(&["stats"]).succeeds().stdout;
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    let whole = text.lines().find(|line| line.ends_with("  the file"));
    assert!(
        whole.is_some_and(|line| line.contains(" 100.00% ")),
        "{text}"
    );
}
