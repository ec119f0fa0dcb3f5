//! Questions as JSON, and queries in SQL.

use crate::support::Server;
use serde_json::json;

#[test]
fn a_question_takes_a_selector_as_text() {
    let server = Server::start().with_builds();
    for request in [
        r#"{"selector":"v1"}"#,
        r#"{"named":"v1"}"#,
        r#"{"named":{"selector":"v1"}}"#,
    ] {
        let answer = server.post("/api/v1/questions/top", request).json();
        assert_eq!(answer["schema"], "sto.top/1");
        assert_eq!(answer["build"], "v1");
    }
    let check = r#"{"baseline":"v1","candidate":"v2"}"#;
    let answer = server.post("/api/v1/questions/check", check).json();
    assert_eq!(answer["schema"], "sto.check/1");
}

#[test]
fn unknown_fields_and_questions_are_named() {
    let server = Server::start().with_builds();
    let ask =
        |name: &str, request: &str| server.post(&format!("/api/v1/questions/{name}"), request);
    let unknown = ask("top", r#"{"selector":"v1","limits":3}"#).problem(400);
    assert!(
        unknown.starts_with("unknown field `limits`, expected one of"),
        "{unknown}"
    );
    let nested = ask("top", r#"{"selector":"v1","filter":{"evnt":"cycles"}}"#).problem(400);
    assert!(
        nested.contains("`evnt`") && nested.contains("`event`"),
        "{nested}"
    );
    assert!(ask("best", "").problem(404).contains("expected one of"));
    ask("top", "[1]").problem(400);
    ask("top", "{").problem(400);
    ask("top", r#"{"selector":"v9"}"#).problem(404);
}

#[test]
fn an_answer_is_the_same_until_the_store_changes() {
    let server = Server::start().with_builds();
    let path = "/api/v1/questions/top?request=%7B%22selector%22%3A%22v1%22%7D";
    let tag = |headers: &str| {
        headers
            .lines()
            .find_map(|line| line.strip_prefix("etag: "))
            .unwrap()
            .to_owned()
    };
    let first = server.get(path);
    assert_eq!(first.status, 200);
    let old = tag(&first.headers);
    let same = server.send("GET", path, &[("if-none-match", &old)], "");
    assert_eq!((same.status, &*same.text), (304, ""));
    server.add("v3", "main 1\n");
    let changed = server.send("GET", path, &[("if-none-match", &old)], "");
    assert_eq!(changed.status, 200);
    assert_ne!(tag(&changed.headers), old);
}

#[test]
fn sql_answers_as_json_or_csv() {
    let server = Server::start().with_builds();
    let sql = "SELECT version FROM executable ORDER BY version";
    let answer = server.post("/api/v1/sql", sql).json();
    assert_eq!(
        answer,
        json!({"columns": ["version"], "rows": [["v1"], ["v2"]], "more": false})
    );
    let csv = server.send("POST", "/api/v1/sql", &[("accept", "text/csv")], sql);
    assert_eq!(csv.text, "version\nv1\nv2\n");
    let as_json = ("content-type", "application/json");
    let request =
        json!({"sql": "SELECT :a + 1 AS n UNION SELECT 7", "parameters": {"a": 1}, "limit": 1});
    let limited = server.send("POST", "/api/v1/sql", &[as_json], request.to_string());
    assert_eq!(
        limited.json(),
        json!({"columns": ["n"], "rows": [[2]], "more": true})
    );
    assert!(server.get("/api/v1/sql").json()["names"][0]["columns"].is_array());
}

#[test]
fn sql_changes_nothing_and_ends_in_time() {
    let server = Server::start().with_builds();
    let sql = |text: &str| server.post("/api/v1/sql", text);
    for (wrong, message) in [
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM profile", "nothing"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT :x", ":x"),
        ("CREATE TABLE x(a)", "read-only"),
        ("DELETE FROM profile", "read-only"),
        ("ATTACH '/tmp/x.db' AS x", "read-only"),
    ] {
        let problem = sql(wrong).problem(422);
        assert!(problem.contains(message), "{wrong}: {problem}");
    }
    sql("SELECT * FROM find_regressions('/etc/passwd', 'v2')").problem(403);
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    assert!(sql(endless).problem(503).contains("time limit of 1 s"));
}
