//! Codes of errors, which Connect and gRPC share.

/// The code of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// The number of `google.rpc.Code`.
    pub(crate) number: u32,
    /// The name in Connect.
    pub(crate) name: &'static str,
}

impl Code {
    /// The code for the status of a response.
    ///
    /// A request that may succeed later is `unavailable`, because clients of OTLP repeat no other one.
    pub(crate) fn of_status(status: u16) -> Code {
        let (number, name) = match status {
            400 | 415 | 422 => (3, "invalid_argument"),
            401 => (16, "unauthenticated"),
            403 => (7, "permission_denied"),
            404 => (5, "not_found"),
            408 => (4, "deadline_exceeded"),
            413 => (8, "resource_exhausted"),
            429 | 503 => (14, "unavailable"),
            501 => (12, "unimplemented"),
            _ => (13, "internal"),
        };
        Code { number, name }
    }
}
