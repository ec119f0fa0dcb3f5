//! pprof: real files against goldens, what the schema allows, and what it does not.

mod bad;
mod build;
mod dropped;
mod labels;
mod messages;
mod real;
mod types;
