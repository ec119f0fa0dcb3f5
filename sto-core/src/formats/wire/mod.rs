//! What formats are written in: text, JSON, XML, comma-separated values, Protocol Buffers.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod protobuf;
pub(crate) mod text;
pub(crate) mod xml;
