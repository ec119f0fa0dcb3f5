//! TLS.

use crate::support::Server;
use std::process::Command;
use sto_serve::Options;
use sto_test_support::missing;
use tempfile::TempDir;

#[test]
fn tls_speaks_both_versions_of_http() {
    if missing(&["openssl", "curl"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key) = (path("cert.pem"), path("key.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let config = format!("tls.certificate = '{certificate}'\ntls.key = '{key}'");
    let server = Server::with_config(&config);
    let port = server.host().rsplit_once(':').unwrap().1;
    for (option, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let answer = Command::new("curl")
            .args([
                "-s",
                "--cacert",
                &certificate,
                option,
                "-w",
                "%{http_version}",
            ])
            .arg(format!("https://localhost:{port}/healthz"))
            .output()
            .unwrap();
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        assert_eq!(answer, format!("ok\n{version}"));
    }
}

#[test]
fn a_missing_certificate_is_an_error_with_its_path() {
    let mut options =
        Options::parse("tls.certificate = '/nowhere/cert.pem'\ntls.key = '/nowhere/key.pem'")
            .unwrap();
    options.listen.set_port(0);
    let store = sto_core::store::Store::in_memory().unwrap();
    let failed = sto_serve::serve(store, options, sto_serve::Program::default(), async {});
    assert!(
        failed
            .unwrap_err()
            .to_string()
            .starts_with("/nowhere/cert.pem: ")
    );
}
