//! The statistics agree with independent implementations; a module for each subject.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod edger;
mod models;
mod warp;
