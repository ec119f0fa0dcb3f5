//! The resources of a request.

use axum::body::Bytes;

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
