//! What formats are written in: text, JSON, XML, comma-separated values, Protocol Buffers.

pub(crate) mod csv;
#[cfg(feature = "pprof")]
pub(crate) mod json;
pub(crate) mod protobuf;
pub(crate) mod text;
#[cfg(feature = "viewers")]
pub(crate) mod xml;
