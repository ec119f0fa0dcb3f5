//! The language server, as clients have it.

mod editors;
mod hostile;
mod protocol;
mod session;
mod shown;
mod store;
