//! A store as SQL tables, implemented as SQLite virtual tables.
//!
//! See [the manual](crate::manual::tables).

mod analyses;
mod build_tree;
mod by_frame;
mod call;
mod constraints;
mod database;
mod error;
mod examples;
mod executable;
mod function;
mod function_sample;
mod ids;
mod math;
mod module;
mod profile;
mod recursion;
mod sample;
mod scalar;
mod search;
mod slice;
mod stack_node;
mod stack_node_data;
mod stored;
mod table;
mod text_index;
mod write;

pub use database::{Database, SqlCell, SqlName, SqlOptions, SqlRows, SqlValue};
pub use error::SqlError;
pub use examples::{EXAMPLES, Example};
pub use write::{SqlFormat, SqlWriter, schema};
