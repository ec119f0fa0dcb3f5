//! `GET /api/v1/openapi.json`: the interface in the OpenAPI format, with the schemas of requests and answers.

use crate::shared::Shared;
use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use sto_query::questions::{AnyQuestion, QuestionSchema};

pub(super) fn routes() -> Router<Arc<Shared>> {
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

/// The document. Types of requests and of answers have different schemas, so each kind has its own definitions.
fn document() -> Value {
    let generator = |kind: &str| -> SchemaSettings {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = format!("/components/schemas/{kind}/$defs").into();
        settings.meta_schema = None;
        settings
    };
    let mut requests = generator("requests").into_generator();
    let mut answers = generator("answers").for_serialize().into_generator();
    let questions = AnyQuestion::describe(&mut requests, &mut answers);
    let mut paths: Map<String, Value> = questions.iter().map(question).collect();
    paths.extend(others());
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
            "schemas": {
                "Problem": {
                    "type": "object",
                    "properties": {
                        "status": { "type": "integer" }, "type": { "type": "string" },
                        "title": { "type": "string" }, "detail": { "type": "string" },
                    },
                    "required": ["status", "type", "title", "detail"],
                },
                "requests": { "$defs": definitions(&mut requests) },
                "answers": { "$defs": definitions(&mut answers) },
            },
        },
    })
}

fn definitions(generator: &mut SchemaGenerator) -> Value {
    Value::Object(generator.take_definitions(true))
}

/// The path of a question.
fn question(question: &QuestionSchema) -> (String, Value) {
    let QuestionSchema {
        name,
        about,
        request,
        answer,
        ..
    } = question;
    let responses = responses(&json!({ "schema": answer }), "application/json");
    let path = json!({ "post": {
        "operationId": name,
        "summary": about,
        "requestBody": { "content": { "application/json": { "schema": request } } },
        "responses": responses,
    } });
    (format!("/api/v1/questions/{name}"), path)
}

/// The other paths for programs.
fn others() -> Map<String, Value> {
    let text = |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string" } });
    let names = [
        "program",
        "build",
        "revision",
        "benchmark",
        "recorded",
        "slices",
        "format",
    ];
    let parameters = names.map(text);
    let any = json!({ "schema": true });
    let paths = json!({
        "/api/v1/profiles": { "post": {
            "operationId": "sendProfile",
            "summary": "Stores a recording in any format that sto reads. Further parameters: label.KEY, metric.NAME.",
            "parameters": parameters,
            "requestBody": { "required": true, "content": { "application/octet-stream": {} } },
            "responses": responses(&any, "application/json"),
        } },
        "/api/v1/sql": { "post": {
            "operationId": "sql",
            "summary": "Queries the store in SQL.",
            "requestBody": { "required": true, "content": { "text/plain": { "schema": { "type": "string" } } } },
            "responses": responses(&any, "application/json"),
        } },
        "/api/v1/status": { "get": {
            "operationId": "status",
            "summary": "The senders, with the numbers of accepted and refused profiles.",
            "responses": responses(&any, "application/json"),
        } },
        "/metrics": { "get": {
            "operationId": "metrics",
            "summary": "Metrics in the text format of Prometheus.",
            "responses": responses(&any, "text/plain"),
        } },
    });
    match paths {
        Value::Object(paths) => paths,
        _ => Map::new(),
    }
}

/// The responses of an operation: a content of this type, or a problem.
fn responses(content: &Value, media_type: &str) -> Value {
    json!({
        "2XX": { "description": "The answer.", "content": { media_type: content } },
        "default": { "$ref": "#/components/responses/Problem" },
    })
}
