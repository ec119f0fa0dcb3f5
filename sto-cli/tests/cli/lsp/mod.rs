//! The language server, as seen by clients.

mod editors;
mod hostile;
mod protocol;
mod session;
mod shown;
mod store;
