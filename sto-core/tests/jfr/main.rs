//! JDK Flight Recorder: real files as the JDK's own reader has them, what chunks may hold, and what they
//! may not.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::big_endian_bytes, reason = "headers of chunks are so")]

mod bad;
mod build;
mod chunks;
#[path = "../common/mod.rs"]
mod common;
mod real;
mod types;
