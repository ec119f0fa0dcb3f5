//! Comparisons of two builds, on views made by hand.

mod calibrate;
mod calibration;
mod cases;
mod check;
mod degenerate;
mod demo;
mod explain;
mod html;
mod keys;
mod metrics;
mod paths;
mod readings;
mod renamed_symbols;
mod render;
mod runs;
mod sentences;
pub(crate) mod support;
mod toolchains;
