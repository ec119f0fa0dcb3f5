//! Endpoints that profiles are sent to.

mod profiles;

use crate::shared::Shared;
use axum::Router;
use std::sync::Arc;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    profiles::routes()
}
