//! Tests of the endpoints that profiles are sent to, with real clients where there are any.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod clients;
mod damaged;
mod exchange;
mod otlp;
mod profiles;
mod pyroscope;
mod ready;
#[allow(dead_code, reason = "the tests of the querier use the rest")]
mod support;
