//! The store: what goes in comes out, whatever is wrong with the file.

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
