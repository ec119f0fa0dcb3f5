//! OTLP profiles: real encoders' files against a golden, JSON beside Protocol Buffers, what the schema
//! allows, and what it does not.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod bad;
mod build;
#[path = "../common/mod.rs"]
mod common;
mod json;
mod messages;
mod real;
mod rules;
