//! JDK Flight Recorder: real files as the JDK's own reader has them, what chunks may hold, and what they
//! may not.
#![expect(clippy::big_endian_bytes, reason = "headers of chunks are so")]

mod bad;
mod build;
mod chunks;
mod metrics;
mod real;
mod types;
