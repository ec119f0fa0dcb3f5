//! The resources of a request.

use axum::body::Bytes;
use sto_core::formats::{DecodeError, Message};

/// A resource, which is often a process.
pub(super) struct Resource {
    /// Its attributes.
    pub(super) labels: Vec<(String, String)>,
    /// Number of its profiles.
    pub(super) profiles: u64,
}

/// A request whose resources are known.
pub(super) trait Resources {
    /// The resources in the order of the request.
    fn resources(&self) -> &[Resource];

    /// A request with only these resources, by their indices.
    fn only(&self, resources: &[usize]) -> Bytes;
}

/// Returns the messages in fields with a number.
pub(super) fn messages(
    message: Message<'_>,
    number: u32,
) -> impl Iterator<Item = Result<Message<'_>, DecodeError>> {
    message.fields().filter_map(move |field| match field {
        Ok(field) if field.number == number => Some(field.message()),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}
