//! The library answers like the command in the same surroundings.

use std::path::Path;
use std::sync::Arc;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::results::Verdict;
use sto_query::sources::{BuildRef, Context, Sources, Surroundings};

#[test]
fn ten_lines_give_the_verdict_of_the_readme() {
    let demo = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/demo"));
    let sources = Sources::from_folder(Path::new("no store"));
    let sources = sources.with_environment(Arc::new(Surroundings::from_git(demo)));
    let mut request = CheckRequest::default();
    request.baseline = Some(Baseline::Any(BuildRef::File(demo.join("v1.perf.data"))));
    request.candidate = BuildRef::File(demo.join("v2.perf.data"));
    let check = sto_query::ask(&sources, &request, &Context::default()).unwrap();
    assert_eq!(check.verdict, Verdict::Regression);
    assert_eq!(check.comparisons[0].findings[0].function, "doLogging");
}
