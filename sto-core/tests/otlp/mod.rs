//! OTLP profiles: files of real encoders, JSON and Protocol Buffers, valid and malformed exports.

mod bad;
mod build;
mod json;
mod real;
mod rules;
