//! OTLP profiles: real encoders' files against a golden, JSON beside Protocol Buffers, what the schema
//! allows, and what it does not.

mod bad;
mod build;
mod json;
mod messages;
mod real;
mod rules;
