//! Parses JSON bodies and parameters of addresses. Errors name the field, the found value and the expected one.

use crate::body::Decoded;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::wording::plain;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::value::Error as ValueError;
use serde::de::{Deserialize, DeserializeOwned, DeserializeSeed};
use serde_path_to_error::Track;
use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

/// The parameters in the address of a request.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Parameters<T>, Problem> {
        parameters(&parts.uri).map(Parameters)
    }
}

/// Parses the parameters of an address.
pub(crate) fn parameters<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let parsed = Query::<T>::try_from_uri(uri);
    let parsed = parsed.map_err(|rejection| {
        let mut causes = std::iter::successors(rejection.source(), |&cause| cause.source());
        let cause =
            causes.find_map(|cause| cause.downcast_ref::<serde_path_to_error::Error<ValueError>>());
        let error = cause.map_or_else(
            || rejection.body_text(),
            |cause| plain(&cause.path().to_string(), &cause.inner().to_string()),
        );
        Problem::bad_request(format!("the parameters of the address: {error}"))
    });
    parsed.map(|Query(parameters)| parameters)
}

/// A JSON object as the body of a request.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<Shared>> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<JsonBody<T>, Problem> {
        let body = Decoded::from_request(request, shared).await?;
        json(&body.bytes).map(JsonBody)
    }
}

/// Parses a JSON object.
pub(crate) fn json<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, Problem> {
    json_as(PhantomData, bytes)
}

/// Parses a JSON object as a type that is known at run time.
pub(crate) fn json_as<'b, S: DeserializeSeed<'b>>(
    seed: S,
    bytes: &'b [u8],
) -> Result<S::Value, Problem> {
    // Types with named fields can be parsed from lists, too, but no interface has such lists.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::bad_request("the request: expected a JSON object"));
    }
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let parsed = seed.deserialize(serde_path_to_error::Deserializer::new(
        &mut json, &mut track,
    ));
    let parsed = parsed.and_then(|parsed| json.end().map(|()| parsed));
    parsed.map_err(|error| {
        let text = if error.is_data() {
            plain(&track.path().to_string(), &error.to_string())
        } else {
            format!("malformed JSON: {error}")
        };
        Problem::bad_request(format!("the request: {text}"))
    })
}
