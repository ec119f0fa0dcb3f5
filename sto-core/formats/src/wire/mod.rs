//! Encodings used by several formats: text, JSON, XML, CSV, the marshal formats of Python and Ruby,
//! Protocol Buffers, and consecutive records.

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
