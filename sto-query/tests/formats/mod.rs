//! Findings in the formats of CI systems: golden files, and independent readers.

mod fixtures;
mod github;
mod goldens;
mod markdown;
mod schemas;
