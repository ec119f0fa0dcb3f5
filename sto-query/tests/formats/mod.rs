//! Findings in the formats of CI systems: golden files, and what reads them back.

mod fixtures;
mod github;
mod goldens;
mod markdown;
mod schemas;
