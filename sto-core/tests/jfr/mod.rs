//! JDK Flight Recorder: real files compared with the JDK's reader, valid and malformed chunks.
#![expect(clippy::big_endian_bytes, reason = "headers of chunks are big-endian")]

mod bad;
mod build;
mod chunks;
mod metrics;
mod real;
mod types;
