//! The interface as an OpenAPI document.

use crate::support::Server;
use std::fs;
use std::process::Command;
use sto_test_support::missing;
use tempfile::TempDir;

#[test]
fn the_document_lists_all_questions_and_is_valid() {
    let server = Server::start();
    let text = server.get("/api/v1/openapi.json").text;
    for path in [
        "/api/v1/questions/top",
        "/api/v1/questions/check",
        "/api/v1/profiles",
        "/api/v1/export/{format}",
        "/api/v1/exchange/profiles/{name}",
        "/v1development/profiles",
        "/push.v1.PusherService/Push",
        "/querier.v1.QuerierService/SelectMergeStacktraces",
        "/pyroscope/render",
    ] {
        assert!(text.contains(&format!("\"{path}\":")), "{path}");
    }
    if missing(&["openapi-spec-validator"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("openapi.json");
    fs::write(&file, text).unwrap();
    let checked = Command::new("openapi-spec-validator")
        .arg(&file)
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stdout)
    );
}
