//! The store: profiles round-trip, and damage is detected.

mod batch;
mod calls_over_time;
mod conflicts;
mod damage;
mod folder;
mod kept_calls;
mod merge;
mod metrics;
mod metrics_over_time;
mod model;
mod rest;
mod rewrite;
mod round_trip;
mod snapshots;
mod sums;
mod tags;
mod verify;
