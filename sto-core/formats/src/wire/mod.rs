//! What formats are written in: text, JSON, XML, Python's and Ruby's marshal, comma-separated values, Protocol Buffers,
//! records that follow each other.

pub(crate) mod csv;
pub(crate) mod cutter;
pub(crate) mod json;
pub(crate) mod marshal;
pub(crate) mod protobuf;
pub(crate) mod records;
pub(crate) mod ruby;
pub(crate) mod text;
mod values;
pub(crate) mod xml;
