//! Findings in the formats of CI systems: golden files, and what reads them back.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fixtures;
mod github;
mod goldens;
mod markdown;
mod schemas;
#[path = "../views/mod.rs"]
mod views;
