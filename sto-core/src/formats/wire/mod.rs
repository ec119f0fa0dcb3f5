//! What formats are written in: text, JSON, XML, Python's and Ruby's marshal, comma-separated values, Protocol Buffers,
//! records that follow each other.

pub(crate) mod csv;
#[cfg(feature = "pprof")]
pub(crate) mod cutter;
#[cfg(feature = "pprof")]
pub(crate) mod json;
#[cfg(feature = "text")]
pub(crate) mod marshal;
pub(crate) mod protobuf;
#[cfg(feature = "text")]
pub(crate) mod records;
#[cfg(feature = "viewers")]
pub(crate) mod ruby;
pub(crate) mod text;
#[cfg(feature = "text")]
mod values;
#[cfg(feature = "viewers")]
pub(crate) mod xml;
