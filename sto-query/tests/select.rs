//! Selectors, and errors of selectors that match nothing.

use crate::views::{profile_id, stored_build};
use sto_core::store::StoredBuild;
use sto_core::units::UnixSeconds;
use sto_query::select::{SelectError, Selection, Selector, TaggedCommit, select_from};

fn builds() -> Vec<StoredBuild> {
    vec![
        stored_build("demo", "v1", &[0xab, 0xcd, 0x12, 0x34], &[1, 2]),
        stored_build("demo", "v2", &[0xab, 0xcd, 0x99, 0x99], &[3]),
        stored_build("other", "v2", &[0x77, 0x77, 0x77, 0x77], &[4]),
        stored_build("other", "release@3", &[0x55, 0x55, 0x55, 0x55], &[5]),
        stored_build("tool@9", "v9", &[], &[6]),
        stored_build("other", "abcd", &[], &[7]),
    ]
}

fn chosen(text: &str) -> Result<Selection, SelectError> {
    select_from(&builds(), &text.parse::<Selector>()?)
}

/// Returns the selected build as `EXE@BUILD` with the number of its profiles, or the error message.
fn outcome(text: &str) -> String {
    match chosen(text) {
        Ok(chosen) => format!(
            "{}@{} {}",
            chosen.build.executable,
            chosen.build.version,
            chosen.profiles.len()
        ),
        Err(error) => error.to_string(),
    }
}

#[test]
fn version_selects_build_if_one_executable_has_it() {
    assert_eq!(outcome("v1"), "demo@v1 2");
    assert_eq!(outcome("demo@v2"), "demo@v2 1");
    assert_eq!(
        outcome("v2"),
        "several executables have a build `v2`; name one as EXE@BUILD: demo@v2, other@v2"
    );
}

#[test]
fn compares_whole_names_before_splitting_at_at_sign() {
    assert_eq!(outcome("release@3"), "other@release@3 1");
    assert_eq!(outcome("other@release@3"), "other@release@3 1");
    assert_eq!(outcome("tool@9@v9"), "tool@9@v9 1");
    let selector: Selector = "other@release@3".parse().unwrap();
    assert_eq!(selector.executable.as_deref(), Some("other"));
    assert_eq!(selector.name, "release@3");
    assert_eq!(selector.to_string(), "other@release@3");
}

#[test]
fn unique_prefix_of_build_id_selects_build() {
    assert_eq!(outcome("abcd1"), "demo@v1 2");
    assert_eq!(outcome("ABCD12"), "demo@v1 2");
    assert_eq!(outcome("abcd1234"), "demo@v1 2");
    assert_eq!(outcome("demo@abcd9"), "demo@v2 1");
}

#[test]
fn exact_version_precedes_prefixes() {
    assert_eq!(outcome("abcd"), "other@abcd 1");
}

#[test]
fn ambiguous_prefix_lists_candidates() {
    assert_eq!(
        outcome("demo@abcd"),
        "several ids begin with `abcd`; write more of the one you mean: \
         build id abcd1234 of demo@v1, build id abcd9999 of demo@v2"
    );
}

#[test]
fn prefix_of_profile_id_selects_only_that_profile() {
    let builds = builds();
    let id = profile_id(&builds[0].build, 2);
    for digits in [4, 5, 12, 32] {
        let chosen = chosen(&id.to_string()[..digits]).unwrap();
        assert_eq!(chosen.profiles.len(), 1);
        assert_eq!(chosen.profiles[0].id, id);
        assert_eq!(chosen.build, builds[0].build);
    }
    let elsewhere = format!("other@{id}");
    assert!(matches!(
        chosen(&elsewhere),
        Err(SelectError::NotFound { .. })
    ));
    let too_short = &id.to_string()[..3];
    assert!(matches!(
        chosen(too_short),
        Err(SelectError::ShortPrefix { .. })
    ));
}

#[test]
fn unknown_name_lists_builds_and_closest_name() {
    assert_eq!(
        outcome("demo@v11"),
        "no build or profile is called `demo@v11`; there are demo@v1, demo@v2, other@v2, \
         other@release@3, tool@9@v9, other@abcd; did you mean `demo@v1`?"
    );
    assert!(!outcome("something else entirely").contains("did you mean"));
}

#[test]
fn error_names_at_most_ten_builds() {
    let builds: Vec<StoredBuild> = (0..25)
        .map(|ix| stored_build("demo", &format!("build{ix}"), &[], &[ix]))
        .collect();
    let error = select_from(&builds, &"nothing".parse().unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("demo@build9 and 15 more"), "{error}");
    assert!(!error.contains("build10"), "{error}");
    let error = select_from(&builds[..1], &"nothing".parse().unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("there is demo@build0"), "{error}");
}

#[test]
fn empty_store_and_empty_name_have_remedies() {
    let error = select_from(&[], &"v1".parse().unwrap())
        .unwrap_err()
        .to_string();
    assert_eq!(error, "the store has no profiles yet");
    for text in ["", "demo@"] {
        let error = text.parse::<Selector>().unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "`{text}` does not name a build; write BUILD, EXE@BUILD, or the id of a profile"
            )
        );
    }
}

#[test]
fn errors_escape_control_characters() {
    let builds = [stored_build("demo\x1b[2J", "v1\n", &[], &[1])];
    let error = select_from(&builds, &"\x1b]0;x".parse().unwrap())
        .unwrap_err()
        .to_string();
    assert!(!error.contains(char::is_control), "{error:?}");
    assert!(error.contains("\\u{1b}"), "{error:?}");
}

#[test]
fn tag_selects_build_unless_a_build_has_that_name() {
    let mut builds = builds();
    for (build, tags) in [
        (0, &["good", "v2", "abcd12"][..]),
        (1, &["new"]),
        (3, &["good"]),
    ] {
        builds[build].tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    }
    let outcome = |text: &str| match select_from(&builds, &text.parse().unwrap()) {
        Ok(chosen) => format!("{}@{}", chosen.build.executable, chosen.build.version),
        Err(error) => error.to_string(),
    };
    assert_eq!(outcome("new"), "demo@v2");
    assert_eq!(outcome("demo@good"), "demo@v1");
    assert_eq!(outcome("other@good"), "other@release@3");
    let several = "several executables have a build `good`; name one as EXE@BUILD: demo@v1, \
                   other@release@3";
    assert_eq!(outcome("good"), several);
    assert_eq!(outcome("demo@v2"), "demo@v2");
    // Tags precede prefixes of ids.
    assert_eq!(outcome("abcd12"), "demo@v1");
    let close = outcome("demo@goood");
    assert!(close.ends_with("did you mean `demo@good`?"), "{close}");
}

/// Returns three builds of `demo`, recorded on successive days but not in the order of their names,
/// and one of `tool`.
fn dated() -> Vec<StoredBuild> {
    let mut builds = vec![
        stored_build("demo", "v1", &[], &[1]),
        stored_build("demo", "v9", &[], &[2]),
        stored_build("demo", "v3", &[], &[3]),
        stored_build("demo", "unknown", &[], &[4]),
        stored_build("tool", "t1", &[], &[5]),
    ];
    let days = [Some(1), Some(2), Some(3), None, Some(9)];
    for (build, day) in builds.iter_mut().zip(days) {
        for stored in &mut build.profiles {
            stored.profile.origin.recorded = day.map(|day| UnixSeconds(day * 86_400));
        }
    }
    builds
}

fn named(builds: &[StoredBuild], selector: &Selector) -> String {
    match select_from(builds, selector) {
        Ok(chosen) => chosen.build.version,
        Err(error) => error.to_string(),
    }
}

#[test]
fn selects_builds_by_age() {
    let builds = dated();
    let outcome = |text: &str| named(&builds, &text.parse().unwrap());
    assert_eq!(outcome("demo@newest"), "v3");
    assert_eq!(outcome("demo@previous"), "v9");
    assert_eq!(outcome("demo@newest~0"), "v3");
    assert_eq!(outcome("demo@newest~2"), "v1");
    assert_eq!(
        outcome("demo@newest~3"),
        "`demo@newest~3` does not exist: 3 builds have a recording time, the oldest is demo@v1"
    );
    assert_eq!(
        outcome("@newest"),
        "the store has several programs; select one of them: demo@newest, tool@newest"
    );
    assert!(outcome("nosuch@newest").starts_with("no build or profile is called `nosuch@newest`"));
    let one: Vec<StoredBuild> = builds[..3].to_vec();
    assert_eq!(named(&one, &"@newest~1".parse().unwrap()), "v9");
}

#[test]
fn build_recorded_again_keeps_its_age() {
    let mut builds = dated();
    let mut again = builds[0].profiles[0].clone();
    again.profile.origin.recorded = Some(UnixSeconds(20 * 86_400));
    builds[0].profiles.push(again);
    let outcome = |text: &str| named(&builds, &text.parse().unwrap());
    assert_eq!(outcome("demo@newest"), "v3");
    assert_eq!(outcome("demo@newest~2"), "v1");
}

#[test]
fn build_named_newest_precedes_newest_build() {
    let mut builds = dated();
    builds[0].build.version = "newest".to_owned();
    assert_eq!(named(&builds, &"demo@newest".parse().unwrap()), "newest");
}

#[test]
fn average_is_not_the_newest_run() {
    let mut builds = dated();
    builds[2].profiles[0].profile.format = "average".to_owned();
    assert_eq!(named(&builds, &"demo@newest".parse().unwrap()), "v9");
}

#[test]
fn selects_builds_by_commit() {
    let mut builds = dated();
    let revisions = [
        "v1.0-3-gabc1234abc1234",
        "abc99990000111122223333444455556666777788",
        "v1.1",
        "v1.0-3-gabc1234abc1234-dirty",
    ];
    for (build, revision) in builds.iter_mut().zip(revisions) {
        build.build.revision = Some(revision.to_owned());
    }
    let at = |text: &str, id: &str, tags: &[&str]| {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let commit = TaggedCommit {
            id: id.to_owned(),
            tags,
        };
        named(
            &builds,
            &text.parse::<Selector>().unwrap().with_commit(commit),
        )
    };
    let id = "abc1234abc1234ffffffffffffffffffffffffff";
    assert_eq!(at("git:HEAD~1", id, &[]), "v1");
    assert_eq!(at("git:main@{1}", id, &[]), "v1");
    assert_eq!(at("demo@git:HEAD~1", id, &[]), "v1");
    assert_eq!(
        at(
            "git:v1.1",
            "0000111122223333444455556666777788889999",
            &["v1.1"]
        ),
        "v3"
    );
    let outcome = |text: &str| named(&builds, &text.parse().unwrap());
    assert_eq!(outcome("git:abc9999"), "v9");
    assert_eq!(outcome("git:HEAD"), "`HEAD` is not a commit id");
    assert_eq!(
        outcome("git:ffffffff"),
        "no build is of `ffffffff`; there are demo@v1 (v1.0-3-gabc1234abc12), \
         demo@v9 (abc999900001), demo@v3 (v1.1), demo@unknown (v1.0-3-gabc1234abc12-dirty)"
    );
    builds[1].build.revision = builds[0].build.revision.clone();
    assert_eq!(
        named(&builds, &"git:abc1234".parse().unwrap()),
        "several builds are of `abc1234`; name one: demo@v1, demo@v9"
    );
    builds.drain(..3);
    assert_eq!(
        named(&builds, &"git:abc1234".parse().unwrap()),
        "no build is of `abc1234`; these builds had uncommitted changes: demo@unknown"
    );
}

#[test]
fn short_id_states_minimum_length() {
    assert_eq!(
        outcome("777"),
        "`777` is too short for the start of an id: write at least 4 digits; these begin with it: build id \
         77777777 of other@v2"
    );
}
