//! Tests of the answers to other front ends, downloads and checks.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod checks;
mod clients;
mod downloads;
mod grafana;
mod messages;
mod render;
mod runs;
#[path = "../senders/support.rs"]
#[allow(dead_code, reason = "the tests of senders use the rest")]
mod support;
