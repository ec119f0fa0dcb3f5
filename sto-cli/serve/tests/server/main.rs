//! Tests of the server itself: access, limits, questions, and state.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod access;
mod files;
mod limits;
mod openapi;
mod questions;
mod status;
mod support;
mod tls;
