//! The statistics agree with independent implementations. Each subject has a module.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod edger;
mod models;
mod ratio;
mod warp;
