//! Files of profiles, and their signed addresses.

use crate::runs::{BEGIN, server};
use serde_json::Value;

#[test]
fn files_are_named_after_program_and_build() {
    let server = server();
    let folded = server.get("/api/v1/export/folded?selector=shop@v1", &[]);
    assert_eq!(
        folded.header("content-disposition"),
        "attachment; filename=\"shop-v1.folded\""
    );
    assert!(
        folded.text().contains("main;parse 300000000\n"),
        "{}",
        folded.text()
    );
    for (format, begin) in [
        ("pprof", &b"\x1f\x8b"[..]),
        ("speedscope", b"{"),
        ("firefox", b"{"),
        ("html", b"<!"),
    ] {
        let file = server.get(&format!("/api/v1/export/{format}?selector=shop@v1"), &[]);
        assert_eq!(file.status, 200, "{}", file.text());
        assert!(
            file.body[..60].to_ascii_lowercase().starts_with(begin),
            "{format}"
        );
    }
}

#[test]
fn labels_select_runs_of_any_builds() {
    let query = format!(
        "labels=%7Bservice_name%3D%22shop%22%7D&since={BEGIN}&until={}",
        BEGIN + 5
    );
    let folded = server().get(&format!("/api/v1/export/folded?{query}"), &[]);
    assert!(
        folded.text().contains("main;parse 150000000\n"),
        "{}",
        folded.text()
    );
}

#[test]
fn signed_addresses_are_for_two_viewers() {
    let server = server();
    let link = server.get("/api/v1/export-links/speedscope?selector=shop@v1", &[]);
    let link: Value = serde_json::from_slice(&link.body).unwrap();
    let path = link["path"].as_str().unwrap();
    let origin = [("Origin", "https://www.speedscope.app")];
    let file = server.get(path, &origin);
    assert_eq!(file.status, 200, "{}", file.text());
    assert_eq!(file.header("access-control-allow-origin"), origin[0].1);
    assert_eq!(file.header("vary"), "Origin");
    let other = server.get(path, &[("Origin", "https://example.com")]);
    assert_eq!(other.header("access-control-allow-origin"), "");
    server
        .get(
            &path.replace("v1&", "v2&").replace("shop@v1", "shop@v2"),
            &[],
        )
        .assert_problem(403, "signed for another file");
    let preflight = [
        ("Origin", "https://profiler.firefox.com"),
        ("Access-Control-Request-Method", "GET"),
        ("Access-Control-Request-Private-Network", "true"),
    ];
    let allowed = server.options(path, &preflight);
    assert_eq!(allowed.status, 204);
    assert_eq!(
        allowed.header("access-control-allow-private-network"),
        "true"
    );
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        preflight[0].1
    );
}

#[test]
fn unknown_formats_and_profiles_are_problems() {
    let server = server();
    server
        .get("/api/v1/export/none?selector=v1", &[])
        .assert_problem(404, "there is no such format");
    server
        .get("/api/v1/export/folded?selector=none", &[])
        .assert_problem(404, "none");
    server
        .get("/api/v1/export/folded", &[])
        .assert_problem(400, "expected one of the parameters");
    server
        .get("/api/v1/export/folded?runs=xyz", &[])
        .assert_problem(400, "xyz");
    server
        .get("/api/v1/export/folded?labels=%7Ba", &[])
        .assert_problem(400, "label");
    server
        .get("/api/v1/export-links/folded?selector=none", &[])
        .assert_problem(404, "none");
    server
        .get("/api/v1/signed/1-2/export/folded?selector=v1", &[])
        .assert_problem(403, "signed");
}
