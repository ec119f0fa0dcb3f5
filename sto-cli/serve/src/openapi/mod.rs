//! `GET /api/v1/openapi.json`: the interface in the OpenAPI format, with the schemas of requests and answers.
//!
//! Schemas come from the types that requests are parsed to and answers are made of.

mod operation;
mod parameters;
mod paths;

use crate::shared::Shared;
use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/api/v1/openapi.json", get(openapi))
}

async fn openapi() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| document().to_string());
    let cache = (header::CACHE_CONTROL, "private, max-age=300");
    (
        [(header::CONTENT_TYPE, "application/json"), cache],
        TEXT.as_str(),
    )
}

/// Generators of schemas. Types of requests and of answers have different schemas, so each kind has its own definitions.
struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Schemas {
        let settings = |kind: &str| {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = format!("/components/schemas/{kind}/$defs").into();
            settings.meta_schema = None;
            settings
        };
        Schemas {
            requests: settings("requests").into_generator(),
            answers: settings("answers").for_serialize().into_generator(),
        }
    }

    /// The definitions that all schemas so far refer to.
    fn definitions(&mut self) -> Value {
        let definitions = |generator: &mut SchemaGenerator| generator.take_definitions(true);
        json!({
            "requests": { "$defs": definitions(&mut self.requests) },
            "answers": { "$defs": definitions(&mut self.answers) },
        })
    }
}

fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for operation in paths::all(&mut schemas) {
        let (path, method, description) = operation.describe();
        paths.entry(path).or_insert_with(|| json!({}))[method] = description;
    }
    let mut definitions = schemas.definitions();
    definitions["Problem"] = json!({
        "type": "object",
        "properties": {
            "status": { "type": "integer" }, "type": { "type": "string" },
            "title": { "type": "string" }, "detail": { "type": "string" },
        },
        "required": ["status", "type", "title", "detail"],
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "sto",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Questions about profiles, and endpoints that profiles are sent to.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": { "Problem": {
                "description": "The reason why the request failed, as RFC 9457 describes it.",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            } },
            "schemas": definitions,
        },
    })
}
