//! The methods of all paths for programs.

use super::Schemas;
use super::operation::Operation;
use super::parameters::{of_query, text};
use crate::checks::BadgeParameters;
use crate::downloads::FileParameters;
use crate::querier::{METHODS, OneGraph, Request, TwoGraphs};
use crate::questions::{Catalog, SqlRequest, SqlResult};
use crate::senders::IngestParameters;
use crate::status::ServerStatus;
use schemars::JsonSchema;
use serde_json::{Value, json};
use sto_query::questions::{AnyQuestion, DiffRequest, FlameRequest, QuestionSchema};
use sto_query::results::IngestSummary;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
/// Media types of Connect and gRPC with Protocol Buffers.
const MESSAGES: [&str; 2] = ["application/proto", "application/grpc"];

/// Describes all methods.
pub(super) fn all(schemas: &mut Schemas) -> Vec<Operation> {
    let mut all = questions(schemas);
    all.extend(more_questions(schemas));
    all.extend(state(schemas));
    all.extend(files(schemas));
    all.extend(exchange());
    all.extend(senders(schemas));
    all.extend(grafana(schemas));
    all
}

impl Schemas {
    fn request<T: JsonSchema>(&mut self) -> Value {
        self.requests.subschema_for::<T>().to_value()
    }

    fn answer<T: JsonSchema>(&mut self) -> Value {
        self.answers.subschema_for::<T>().to_value()
    }

    fn parameters<T: JsonSchema>(&mut self) -> Vec<Value> {
        of_query::<T>(&mut self.requests)
    }
}

fn string() -> Value {
    json!({ "type": "string" })
}

fn questions(schemas: &mut Schemas) -> Vec<Operation> {
    let questions = AnyQuestion::describe(&mut schemas.requests, &mut schemas.answers);
    let both = |question: &QuestionSchema| {
        let path = format!("/api/v1/questions/{}", question.name);
        let request = question.request.clone().to_value();
        let answer = question.answer.clone().to_value();
        let as_parameter = json!({
            "name": "request",
            "in": "query",
            "description": "The request as JSON.",
            "content": { JSON: { "schema": request } },
        });
        [
            Operation::post(&*path, &*question.about)
                .takes(JSON, request)
                .answers(JSON, answer.clone()),
            Operation::get(&*path, &*question.about)
                .with([as_parameter])
                .answers(JSON, answer),
        ]
    };
    questions.iter().flat_map(both).collect()
}

fn more_questions(schemas: &mut Schemas) -> Vec<Operation> {
    let columns = |name: &str, request: Value| {
        Operation::post(
            format!("/api/v1/columns/{name}"),
            format!("The stacks of the question `{name}` in binary columns."),
        )
        .takes(JSON, request)
        .answers("application/vnd.sto.columns", true)
    };
    vec![
        columns("flame", schemas.request::<FlameRequest>()),
        columns("diff", schemas.request::<DiffRequest>()),
        Operation::post("/api/v1/sql", "Queries the store in SQL.")
            .takes(TEXT, string())
            .takes(JSON, schemas.request::<SqlRequest>())
            .answers(JSON, schemas.answer::<SqlResult>())
            .answers("text/csv", string()),
        Operation::get(
            "/api/v1/sql",
            "The tables and functions of SQL, and examples.",
        )
        .answers(JSON, schemas.answer::<Catalog>()),
        Operation::get(
            "/api/v1/badge",
            "A picture with the verdict of the newest build.",
        )
        .with(schemas.parameters::<BadgeParameters>())
        .answers("image/svg+xml", true),
    ]
}

fn state(schemas: &mut Schemas) -> Vec<Operation> {
    vec![
        Operation::get(
            "/api/v1/status",
            "The senders, and what was refused and why.",
        )
        .answers(JSON, schemas.answer::<ServerStatus>()),
        Operation::get("/metrics", "Metrics in the text format of Prometheus.")
            .answers(TEXT, string()),
        Operation::get("/healthz", "Whether the process answers. Needs no token.")
            .answers(TEXT, string()),
        Operation::get(
            "/readyz",
            "Whether the store can be read, and profiles can be sent. Needs no token.",
        )
        .answers(TEXT, string()),
    ]
}

/// Files of profiles for other programs.
fn files(schemas: &mut Schemas) -> Vec<Operation> {
    let format = || text("format", "path", "The format, such as pprof or folded.");
    let chosen = schemas.parameters::<FileParameters>();
    let link = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "expires": { "type": "integer" } },
        "required": ["path", "expires"],
    });
    vec![
        Operation::get(
            "/api/v1/export/{format}",
            "A file of profiles for other programs.",
        )
        .with([format()])
        .with(chosen.clone())
        .answers("*/*", true),
        Operation::get(
            "/api/v1/export-links/{format}",
            "The signed address of a file, for pages of viewers.",
        )
        .with([format()])
        .with(chosen)
        .answers(JSON, link),
    ]
}

/// The exchange with other stores.
fn exchange() -> Vec<Operation> {
    let name = || text("name", "path", "The profile's id and `.sto.zst`.");
    let listed = json!({ "type": "array", "items": {
        "type": "object",
        "properties": { "name": { "type": "string" }, "size": { "type": "integer" } },
        "required": ["name", "size"],
    } });
    vec![
        Operation::get(
            "/api/v1/exchange/manifest.json",
            "The version of the exchange.",
        )
        .answers(JSON, json!({ "type": "object" })),
        Operation::get("/api/v1/exchange/profiles", "The files of all profiles.")
            .answers(JSON, listed),
        Operation::get("/api/v1/exchange/profiles/{name}", "The file of a profile.")
            .with([name()])
            .answers(BYTES, true),
        Operation::put(
            "/api/v1/exchange/profiles/{name}",
            "Adds a profile of another store.",
        )
        .with([name()])
        .takes(BYTES, true),
    ]
}

/// Endpoints that profiles are sent to.
fn senders(schemas: &mut Schemas) -> Vec<Operation> {
    let run = [
        ("program", "The program."),
        ("build", "The build."),
        ("revision", "The revision that the build was made from."),
        ("benchmark", "The benchmark that ran."),
        ("recorded", "The day or time of the recording in UTC."),
        ("slices", "The number of slices of time."),
        ("format", "The format, if it cannot be detected."),
    ];
    let run = run.map(|(name, about)| text(name, "query", about));
    const OTLP_GRPC: &str =
        "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
    vec![
        Operation::post(
            "/api/v1/profiles",
            "Stores a recording in any format that sto reads. Further parameters: label.KEY, metric.NAME.",
        )
        .with(run)
        .takes(BYTES, true)
        .answers(JSON, schemas.answer::<IngestSummary>()),
        Operation::post("/ingest", "Takes a profile of a Pyroscope SDK.")
            .with(schemas.parameters::<IngestParameters>())
            .takes("*/*", true),
        call("/push.v1.PusherService/Push", "Takes series of pprof, by Connect or gRPC.", true.into(), true.into()),
        Operation::post("/v1development/profiles", "Takes profiles of OpenTelemetry.")
            .takes("application/x-protobuf", true)
            .takes(JSON, json!({ "type": "object" }))
            .answers("application/x-protobuf", true)
            .answers(JSON, json!({ "type": "object" }))
            .fails_with(error("integer")),
        call(OTLP_GRPC, "Takes profiles of OpenTelemetry, by gRPC.", json!({ "type": "object" }), true.into()),
    ]
}

/// The calls of Grafana's data source.
fn grafana(schemas: &mut Schemas) -> Vec<Operation> {
    let message = schemas.request::<Request>();
    let calls = METHODS.iter().map(|method| {
        let path = format!("/querier.v1.QuerierService/{method}");
        call(
            &path,
            "A call of Grafana's data source for Pyroscope.",
            message.clone(),
            true.into(),
        )
    });
    let mut all: Vec<Operation> = calls.collect();
    all.extend([
        Operation::get(
            "/pyroscope/render",
            "A flame graph for scripts, as JSON, pprof or DOT.",
        )
        .with(schemas.parameters::<OneGraph>())
        .answers(JSON, json!({ "type": "object" }))
        .answers(BYTES, true)
        .answers("text/vnd.graphviz", string()),
        Operation::get(
            "/pyroscope/render-diff",
            "Two flame graphs next to each other.",
        )
        .with(schemas.parameters::<TwoGraphs>())
        .answers(JSON, json!({ "type": "object" })),
    ]);
    all
}

/// A call of Connect or gRPC.
fn call(path: &str, summary: &str, request: Value, answer: Value) -> Operation {
    let mut call = Operation::post(path, summary)
        .takes(JSON, request)
        .answers(JSON, answer)
        .fails_with(error("string"));
    for media_type in MESSAGES {
        call = call.takes(media_type, true).answers(media_type, true);
    }
    call
}

/// The schema of an error of Connect or OTLP.
fn error(code: &str) -> Value {
    json!({
        "type": "object",
        "properties": { "code": { "type": code }, "message": { "type": "string" } },
        "required": ["code", "message"],
    })
}
