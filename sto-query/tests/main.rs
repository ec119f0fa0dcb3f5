//! Tests of queries and their output, one module per subject.
//!
//! One binary, since linking many takes longer than running their tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sto_query::QueryError;
use sto_query::questions::{FunctionModelRequest, ModelRequest, Question};
use sto_query::sources::{Context, Sources};

/// Creates options with these fields and defaults for all others; other crates cannot use literals of these types.
macro_rules! with {
    ($options:ident { $($field:ident $(: $value:expr)? ),* $(,)? }) => {{
        let mut options = $options::default();
        $(options.$field = with!(@ $field $($value)?);)*
        options
    }};
    ($options:ident { $($field:ident $(: $value:expr)?,)* ..$base:expr }) => {{
        let mut options: $options = $base;
        $(options.$field = with!(@ $field $($value)?);)*
        options
    }};
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}

/// Asks without a clock, and without a way to cancel.
fn ask<Q: Question>(sources: &Sources, question: &Q) -> Result<Q::Answer, QueryError> {
    sto_query::ask(sources, question, &Context::default())
}

/// A request for the model of one function.
fn of_function(model: &ModelRequest, function: &str) -> FunctionModelRequest {
    with!(FunctionModelRequest {
        function: function.to_owned(),
        model: model.clone(),
    })
}

mod answers;
mod ask;
mod average;
mod browser;
mod call_models;
mod calls;
mod check;
mod compare;
mod correlate;
mod cost_models;
mod engines;
mod evolution;
mod exchange;
mod expand;
mod export;
mod flame;
mod formats;
mod functions;
mod history;
mod hostile_names;
mod hot;
mod ingest_summary;
mod labelled;
mod lake;
mod library_code;
mod metric_pages;
mod phases;
mod places;
mod policy;
mod potential;
mod prune;
mod questions;
mod ranked_metrics;
mod reports;
mod runs_over_time;
mod savings;
mod search;
mod select;
mod series;
mod surroundings;
mod suspects;
mod tables;
mod text;
mod timeline;
mod tree;
mod view;
mod views;
mod windows;
mod words;

/// Tests in a file that is not declared here would not run.
#[test]
fn every_file_of_tests_is_a_module_of_this_binary() {
    let declared = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_module =
            path.extension().is_some_and(|ending| ending == "rs") || path.join("mod.rs").exists();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            !is_module || name == "main" || declared.contains(&format!("mod {name};\n")),
            "{} is not declared in main.rs",
            path.display()
        );
    }
}
