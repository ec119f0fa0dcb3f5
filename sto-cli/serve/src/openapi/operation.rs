//! One method of one path.

use serde_json::{Map, Value, json};

/// One method of one path.
pub(super) struct Operation {
    method: &'static str,
    path: String,
    summary: String,
    parameters: Vec<Value>,
    /// Schemas of bodies by media type.
    bodies: Map<String, Value>,
    /// Schemas of answers by media type.
    answers: Map<String, Value>,
    /// The schema of errors in JSON, unless they are problems.
    error: Option<Value>,
}

impl Operation {
    pub(super) fn get(path: impl Into<String>, summary: impl Into<String>) -> Operation {
        Operation::new("get", path, summary)
    }

    pub(super) fn post(path: impl Into<String>, summary: impl Into<String>) -> Operation {
        Operation::new("post", path, summary)
    }

    pub(super) fn put(path: impl Into<String>, summary: impl Into<String>) -> Operation {
        Operation::new("put", path, summary)
    }

    fn new(method: &'static str, path: impl Into<String>, summary: impl Into<String>) -> Operation {
        Operation {
            method,
            path: path.into(),
            summary: summary.into(),
            parameters: Vec::new(),
            bodies: Map::new(),
            answers: Map::new(),
            error: None,
        }
    }

    pub(super) fn with(mut self, parameters: impl IntoIterator<Item = Value>) -> Operation {
        self.parameters.extend(parameters);
        self
    }

    /// Adds a media type of the body.
    pub(super) fn takes(mut self, media_type: &str, schema: impl Into<Value>) -> Operation {
        self.bodies.insert(media_type.to_owned(), schema.into());
        self
    }

    /// Adds a media type of the answer.
    pub(super) fn answers(mut self, media_type: &str, schema: impl Into<Value>) -> Operation {
        self.answers.insert(media_type.to_owned(), schema.into());
        self
    }

    /// Sets the schema of errors, which are JSON instead of problems.
    pub(super) fn fails_with(mut self, schema: Value) -> Operation {
        self.error = Some(schema);
        self
    }

    /// Returns path, method, and description.
    pub(super) fn describe(self) -> (String, &'static str, Value) {
        let mut answer = json!({ "description": "The answer." });
        if !self.answers.is_empty() {
            answer["content"] = content(self.answers);
        }
        let problem = json!({ "$ref": "#/components/responses/Problem" });
        let error = self.error.map_or(problem, |schema| {
            json!({
                "description": "The reason why the request failed.",
                "content": {
                    "application/json": { "schema": schema },
                    "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
                },
            })
        });
        let mut description = json!({
            "summary": self.summary,
            "responses": { "2XX": answer, "default": error },
        });
        if !self.parameters.is_empty() {
            description["parameters"] = self.parameters.into();
        }
        if !self.bodies.is_empty() {
            description["requestBody"] =
                json!({ "required": true, "content": content(self.bodies) });
        }
        (self.path, self.method, description)
    }
}

fn content(schemas: Map<String, Value>) -> Value {
    let content = schemas
        .into_iter()
        .map(|(media_type, schema)| (media_type, json!({ "schema": schema })));
    Value::Object(content.collect())
}
