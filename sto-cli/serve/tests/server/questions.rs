//! Questions as JSON, and queries in SQL.

use crate::support::Server;
use serde_json::{Value, json};

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
        unknown.starts_with("the request: unknown field `limits`, expected one of"),
        "{unknown}"
    );
    let nested = ask("top", r#"{"selector":"v1","filter":{"evnt":"cycles"}}"#).problem(400);
    assert!(
        nested.contains("`filter.evnt`") && nested.contains("`event`"),
        "{nested}"
    );
    let unknown = ask("best", "").problem(404);
    assert!(
        unknown.starts_with("there is no such question: found `best`, expected one of `align`"),
        "{unknown}"
    );
    ask("top", "[1]").problem(400);
    ask("top", "{").problem(400);
    ask("top", r#"{"selector":"v9"}"#).problem(404);
}

#[test]
fn errors_name_the_field_and_the_expected_value() {
    let server = Server::start().with_builds();
    let post = |path: &str, body: &str| {
        let as_json = ("content-type", "application/json");
        server.send("POST", path, &[as_json], body).problem(400)
    };
    let get = |path: &str, status| server.get(path).problem(status);
    for (error, expected) in [
        (
            post("/api/v1/questions/top", r#"{"limit":"three"}"#),
            "the request: `limit`: found the text \"three\", expected a whole number",
        ),
        (
            post("/api/v1/questions/top", r#"{"limit":-1}"#),
            "the request: `limit`: found the number -1, expected a whole number",
        ),
        (
            post("/api/v1/columns/flame", "[]"),
            "the request: expected a JSON object",
        ),
        (
            post("/api/v1/sql", r#"{"query":"SELECT 1"}"#),
            "the request: unknown field `query`, expected one of `sql`, `parameters`, `limit`",
        ),
        (
            post(
                "/api/v1/sql",
                r#"{"sql":"SELECT :a","parameters":{"a":[]}}"#,
            ),
            "the request: `parameters.a`: expected a number or text",
        ),
        (
            post("/api/v1/sql", "{"),
            "the request: malformed JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            get("/api/v1/badge", 400),
            "the parameters of the address: the field `program` is missing",
        ),
        (
            get("/api/v1/export/tiff?selector=v1", 404),
            "there is no such format: found `tiff`, expected one of `folded`",
        ),
        (
            get("/api/v1/export/folded?selektor=v1", 400),
            "the parameters of the address: unknown field `selektor`, expected one of `selector`",
        ),
        (
            get("/pyroscope/render?query=a&maxNodes=x", 400),
            "the parameters of the address: `maxNodes`: expected a whole number",
        ),
    ] {
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_long_selector_is_not_found() {
    let server = Server::start().with_builds();
    server.add(&"v".repeat(4000), "main 1\n");
    for length in [5000, 1_000_000] {
        let request = json!({ "selector": "w".repeat(length) }).to_string();
        let problem = server.post("/api/v1/questions/top", request).problem(404);
        assert!(
            problem.starts_with("no build or profile is called"),
            "{length}"
        );
    }
}

#[test]
fn a_known_verdict_is_used_while_other_profiles_arrive() {
    let server = Server::start().with_builds();
    let ids = |build: &str| {
        let listed = server.get("/api/v1/questions/builds").json();
        let mut builds = listed["builds"].as_array().unwrap().iter();
        let found = builds.find(|found| found["version"] == build).unwrap();
        let runs = found["profiles"].as_array().unwrap().iter();
        runs.map(|run| run["id"].clone()).collect::<Vec<Value>>()
    };
    for (build, stacks) in [
        ("v1", "main;parse 4\nmain;read 7\n"),
        ("v2", "main;parse 7\n"),
    ] {
        server.add(build, stacks);
    }
    let request = json!({
        "baseline": { "any": { "runs": ids("v1") } },
        "candidate": { "runs": ids("v2") },
    });
    let check = || {
        let answer = server.post("/api/v1/questions/check", request.to_string());
        assert_eq!(answer.json()["schema"], "sto.check/1");
        answer.text
    };
    let hits = || {
        let metrics = server.get("/metrics").text;
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("sto_known_verdicts_total "));
        line.unwrap().to_owned()
    };
    let first = check();
    assert_eq!(hits(), "0");
    server.add("v3", "main;parse 1\n");
    assert_eq!(check(), first);
    assert_eq!(hits(), "1");
    // With `baseline: "v1"`, other runs may be meant later.
    server.post(
        "/api/v1/questions/check",
        r#"{"baseline":"v1","candidate":"v2"}"#,
    );
    assert_eq!(hits(), "1");
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
