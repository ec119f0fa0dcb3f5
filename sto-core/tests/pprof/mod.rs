//! pprof: real files compared with goldens, valid and malformed profiles.

mod bad;
mod build;
mod dropped;
mod labels;
mod real;
mod types;
