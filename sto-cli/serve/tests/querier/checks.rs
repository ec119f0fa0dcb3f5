//! Badges.

use crate::runs::{BEGIN, RUNS, Run, add, server};

#[test]
fn badge_shows_the_newest_verdict_until_the_store_changes() {
    let server = server();
    let badge = server.get("/api/v1/badge?program=shop", &[]);
    assert_eq!(badge.status, 200, "{}", badge.text());
    assert_eq!(badge.header("content-type"), "image/svg+xml");
    assert!(
        badge.text().contains("sto: too little data"),
        "{}",
        badge.text()
    );
    let seen = [("If-None-Match", badge.header("etag"))];
    assert_eq!(server.get("/api/v1/badge?program=shop", &seen).status, 304);
    let later = Run {
        build: "v3",
        recorded: BEGIN + 120,
        ..RUNS[0]
    };
    add(&server.store, &later);
    assert_eq!(server.get("/api/v1/badge?program=shop", &seen).status, 200);
}

#[test]
fn badge_of_an_unknown_program_says_so() {
    let badge = server().get("/api/v1/badge?program=%3Cscript%3E", &[]);
    assert!(badge.text().contains("sto: no data"), "{}", badge.text());
    assert!(!badge.text().contains("script"));
    server()
        .get("/api/v1/badge", &[])
        .assert_problem(400, "program");
}
