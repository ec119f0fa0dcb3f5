//! Who may send which requests.

use crate::support::Server;
use sto_serve::{NewToken, Options};

const PROFILES: &str = "/api/v1/profiles?program=app&build=v1";
const TOP: &str = "/api/v1/questions/builds";
const STACKS: &str = "main;parse 1\n";

/// Lines of a configuration file with a token, and the token.
fn token(scopes: &str) -> (String, String) {
    let token = NewToken::random().unwrap();
    let config = token.config("ci").replace(r#"["read", "write"]"#, scopes);
    (config, token.text)
}

#[test]
fn without_tokens_everyone_on_the_machine_reads_and_writes() {
    let server = Server::start();
    assert_eq!(server.post(PROFILES, STACKS).status, 201);
    assert_eq!(server.post(TOP, "").status, 200);
}

#[test]
fn tokens_are_bearers_or_passwords_with_scopes() {
    let (config, token) = token(r#"["write"]"#);
    let server = Server::with_config(&config);
    assert_eq!(server.get("/healthz").status, 200);
    let unknown = server.post(PROFILES, STACKS);
    assert!(unknown.problem(401).contains("send a token"));
    assert!(unknown.headers.contains("www-authenticate: Basic"));

    let bearer = ("authorization", &*format!("Bearer {token}"));
    assert_eq!(server.send("POST", PROFILES, &[bearer], STACKS).status, 201);
    use base64::prelude::{BASE64_STANDARD, Engine};
    let basic = format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("anyone:{token}"))
    );
    let basic = ("authorization", &*basic);
    assert_eq!(server.send("POST", PROFILES, &[basic], STACKS).status, 201);

    let refused = server.send("POST", TOP, &[bearer], "");
    assert!(
        refused
            .problem(403)
            .starts_with("the token `ci` lacks the scope `read`; ask who runs the server"),
    );
    for wrong in [
        "Bearer ",
        "Bearer x",
        "Basic",
        "Basic !",
        "Basic eA==",
        "Digest x",
        "",
    ] {
        let wrong = server.send("POST", PROFILES, &[("authorization", wrong)], STACKS);
        wrong.problem(401);
    }
}

#[test]
fn the_status_shows_pushes_that_were_refused() {
    let [(reader, read), (admin, all)] = [r#"["read"]"#, r#"["admin"]"#].map(token);
    let server = Server::with_config(&format!("{reader}{admin}"));
    let send = |token: &str| {
        let bearer = ("authorization", &*format!("Bearer {token}"));
        server.send("POST", PROFILES, &[bearer], STACKS)
    };
    send(&read).problem(403);
    send("unknown").problem(401);
    let bearer = ("authorization", &*format!("Bearer {all}"));
    let status = server.send("GET", "/api/v1/status", &[bearer], "").json();
    let senders = &status["senders"];
    assert_eq!(senders["no access: ci"]["refused"], 1, "{senders}");
    assert_eq!(senders["no access"]["refused"], 1, "{senders}");
    let reason = &senders["no access: ci"]["reasons"][0]["reason"];
    assert!(reason.as_str().unwrap().contains("lacks the scope `write`"));
    // Questions are no pushes.
    server.post(TOP, "").problem(401);
    let status = server.send("GET", "/api/v1/status", &[bearer], "").json();
    assert_eq!(status["senders"]["no access"]["refused"], 1);
}

#[test]
fn admins_may_do_everything() {
    let (config, token) = token(r#"["admin"]"#);
    let server = Server::with_config(&config);
    let bearer = ("authorization", &*format!("Bearer {token}"));
    assert_eq!(server.send("POST", PROFILES, &[bearer], STACKS).status, 201);
    assert_eq!(server.send("POST", TOP, &[bearer], "").status, 200);
}

#[test]
fn a_read_only_server_takes_no_profiles() {
    let server = Server::with_config("read-only = true").with_builds();
    server.post(PROFILES, STACKS).problem(403);
    assert_eq!(server.post(TOP, "").status, 200);
}

#[test]
fn names_of_other_sites_reach_nothing() {
    let server = Server::with_config("hosts = ['profiles.example']");
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
    ] {
        for path in ["/", "/healthz", "/nowhere"] {
            let refused = server.send("GET", path, &[("host", host)], "");
            assert!(
                refused.problem(403).contains("is no name of this server"),
                "{host}"
            );
        }
    }
    assert_eq!(
        server
            .send("GET", "/healthz", &[("host", "profiles.example:80")], "")
            .status,
        200
    );
}

#[test]
fn pages_of_other_sites_change_nothing() {
    let server = Server::start();
    for header in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let refused = server.send("POST", PROFILES, &[header], STACKS);
        assert!(refused.problem(403).contains("another site"), "{header:?}");
    }
    let own = format!("http://{}", server.host());
    assert_eq!(
        server
            .send("POST", PROFILES, &[("origin", &own)], STACKS)
            .status,
        201
    );
}

#[test]
fn the_link_of_one_browser_works_once() {
    let mut options = Options::default();
    options.one_browser = true;
    let server = Server::with_options(options);
    let path = format!("/{}", server.url.rsplit_once('/').unwrap().1);
    assert!(path.starts_with("/?token="));
    server.get("/").problem(401);
    server.get("/?token=x").problem(401);

    let entered = server.get(&path);
    assert_eq!(entered.status, 200);
    assert!(entered.headers.contains("refresh: 0; url=/\n"));
    let cookie = entered
        .headers
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap();
    let (cookie, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    let again = server.get(&path);
    again.problem(401);
    assert!(
        !again.headers.contains("www-authenticate"),
        "{}",
        again.headers
    );

    let cookie = ("cookie", cookie);
    assert_eq!(server.send("GET", "/", &[cookie], "").status, 200);
    let reopened = server.send("GET", &path, &[cookie], "");
    assert_eq!(reopened.status, 200);
    assert!(!reopened.headers.contains("set-cookie"));

    let own = format!("http://{}", server.host());
    assert_eq!(
        server
            .send("POST", TOP, &[cookie, ("origin", &own)], "")
            .status,
        200
    );
    server.send("POST", TOP, &[cookie], "").problem(401);
    // A cookie is as good as any token in a header, so its origin is checked in any case.
    let other_port = ("origin", "http://127.0.0.1:1");
    for headers in [
        &[cookie, other_port][..],
        &[cookie, other_port, ("authorization", "Bearer x")],
    ] {
        server.send("POST", TOP, headers, "").problem(403);
    }
}

#[test]
fn every_response_has_headers_against_attacks() {
    let server = Server::start();
    for path in ["/", "/healthz", "/nowhere", "/api/v1/questions/nothing"] {
        let headers = server.get(path).headers;
        for expected in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin-allow-popups",
            "cross-origin-resource-policy: same-origin",
            "cache-control: ",
        ] {
            assert!(headers.contains(expected), "{path}: {headers}");
        }
        assert!(!headers.contains("access-control-allow-origin"), "{path}");
    }
}
