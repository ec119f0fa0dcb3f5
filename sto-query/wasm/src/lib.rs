//! The library as a WebAssembly module, for pages that open profiles without a server.
//!
//! The module has the addresses of the server that such a page needs, and answers them as the server does:
//!
//! ```text
//! session       the profiles that were opened, and answers to questions about them
//! problem       errors, as the pages show them
//! exports       functions that JavaScript calls
//! ```
//!
//! `sto-cli/serve/web/worker.js` loads the module.

#[cfg(target_family = "wasm")]
mod exports;
mod problem;
mod session;

pub use problem::Problem;
pub use session::Session;
