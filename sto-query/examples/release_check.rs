//! A release check whose answer goes to another program: one call, and JSON of one's own.
//!
//! `cargo run -p sto-query --example release_check`

use serde_json::json;
use std::error::Error;
use std::path::Path;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::questions::ask;
use sto_query::results::Verdict;
use sto_query::sources::{Context, Sources};

/// Fifty runs of ten releases of pulldown-cmark.
const STORE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../testdata/history/history.sto"
);

fn main() -> Result<(), Box<dyn Error>> {
    let mut request = CheckRequest::default();
    request.baseline = Some(Baseline::Any("0.9.6".into()));
    request.candidate = "0.10.0".into();
    let check = ask(
        &Sources::from_folder(Path::new(STORE)),
        &request,
        &Context::default(),
    )?;
    println!("{:#}", summary(&check));
    assert_eq!(check.verdict, Verdict::Regression);
    Ok(())
}

/// What this program's users want to know.
fn summary(check: &sto_query::check::Check) -> serde_json::Value {
    let findings = check.comparisons.iter().flat_map(|comparison| {
        comparison.findings.iter().map(|finding| {
            json!({
                "benchmark": comparison.benchmark_name(),
                "function": finding.function,
                "why": finding.reason,
            })
        })
    });
    json!({
        "blocks": check.verdict == Verdict::Regression,
        "why": check.reason,
        "findings": findings.take(3).collect::<Vec<_>>(),
    })
}

#[test]
fn it_runs() {
    main().expect("it judges the release");
}
