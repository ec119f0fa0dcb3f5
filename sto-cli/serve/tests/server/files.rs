//! Questions cannot read files of the server, nor find out which exist.

use crate::support::Server;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use sto_query::questions::AnyQuestion;
use tempfile::TempDir;

/// A name of a function that only a file has.
const SECRET: &str = "secret_function";

/// Makes a value that is valid against a schema, with a path in place of each text, and `name` in place of each name of a
/// build.
struct Filler<'a> {
    definitions: &'a Value,
    path: &'a str,
    name: Value,
}

impl Filler<'_> {
    fn fill(&self, schema: &Value, depth: usize) -> Value {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            return match name {
                "BuildRef" => self.name.clone(),
                "Baseline" if self.name.is_object() => json!({ "any": self.name }),
                "Baseline" => self.name.clone(),
                _ => self.fill(&self.definitions[name], depth),
            };
        }
        let first = |list: &Value| self.fill(&list[0], depth);
        if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return value.clone();
        }
        match schema {
            _ if schema["oneOf"].is_array() => first(&schema["oneOf"]),
            _ if schema["anyOf"].is_array() => first(&schema["anyOf"]),
            _ if schema["allOf"].is_array() => first(&schema["allOf"]),
            _ => self.fill_type(schema, depth),
        }
    }

    fn fill_type(&self, schema: &Value, depth: usize) -> Value {
        let kind = schema["type"]
            .as_str()
            .or_else(|| schema["type"][0].as_str());
        match kind {
            Some("object") if depth < 8 => self.object(schema, depth),
            Some("object") => json!({}),
            Some("array") if schema["items"].is_null() => json!([]),
            Some("array") => {
                let count = schema["minItems"].as_u64().unwrap_or(1);
                (0..count)
                    .map(|_| self.fill(&schema["items"], depth + 1))
                    .collect()
            }
            Some("string") => self.path.into(),
            Some("integer") => 1.into(),
            Some("number") => 0.5.into(),
            Some("boolean") => false.into(),
            _ => Value::Null,
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        for (key, of) in schema["properties"].as_object().into_iter().flatten() {
            object.insert(key.clone(), self.fill(of, depth + 1));
        }
        if schema["additionalProperties"].is_object() {
            let value = self.fill(&schema["additionalProperties"], depth + 1);
            object.insert(self.path.to_owned(), value);
        }
        object.into()
    }
}

/// All questions with names of builds and all texts replaced: by `name`, and by `path`. Also each with only one field set,
/// because one that is invalid might hide another.
fn questions(path: &str, name: &Value) -> Vec<(String, Value)> {
    let schema = AnyQuestion::schema().to_value();
    let filler = Filler {
        definitions: &schema["$defs"],
        path,
        name: name.clone(),
    };
    let mut questions = Vec::new();
    for question in schema["oneOf"].as_array().unwrap() {
        let kind = question["properties"]["question"]["const"]
            .as_str()
            .unwrap();
        let of = question["$ref"]
            .as_str()
            .map(|name| &schema["$defs"][name.rsplit('/').next().unwrap()]);
        let full = filler.object(of.unwrap_or(question), 0);
        let mut full = full.as_object().unwrap().clone();
        full.remove("question");
        for (key, value) in &full {
            questions.push((kind.to_owned(), json!({ key: value })));
        }
        questions.push((kind.to_owned(), full.into()));
    }
    questions
}

fn answers(server: &Server, path: &Path, name: &Value) -> Vec<(String, u16, String)> {
    let path = path.to_str().unwrap();
    let ask = |(kind, request): (String, Value)| {
        let answer = server.post(&format!("/api/v1/questions/{kind}"), request.to_string());
        assert!(
            !answer.text.contains(SECRET),
            "{kind} {request}: {}",
            answer.text
        );
        assert!(answer.status != 500, "{kind} {request}: {}", answer.text);
        (format!("{kind} {request}"), answer.status, answer.text)
    };
    questions(path, name).into_iter().map(ask).collect()
}

#[test]
fn no_question_reads_a_file_or_tells_whether_it_exists() {
    let folder = TempDir::new().unwrap();
    let [there, absent] = ["there.txt", "absent.txt"].map(|name| folder.path().join(name));
    fs::write(&there, format!("main;{SECRET} 5\n")).unwrap();
    let server = Server::start().with_builds();
    for name in ["file", "selector"] {
        let of = |path: &Path| json!({ name: path });
        let mut forbidden = 0;
        let found = answers(&server, &there, &of(&there));
        for ((question, status, text), (_, other, other_text)) in
            found
                .into_iter()
                .zip(answers(&server, &absent, &of(&absent)))
        {
            let same = |text: &str| text.replace("there.txt", "X").replace("absent.txt", "X");
            assert_eq!(
                (status, same(&text)),
                (other, same(&other_text)),
                "{question}"
            );
            forbidden += usize::from(status == 403);
        }
        assert!(forbidden > 20, "{forbidden}");
    }
}

#[test]
fn paths_besides_builds_are_refused() {
    let server = Server::start().with_builds();
    for (question, request) in [
        ("hot", json!({"path": "/etc"})),
        ("blame", json!({"path": "/etc/passwd"})),
        (
            "source",
            json!({"selector": "v1", "function": "parse", "folders": ["/etc"]}),
        ),
        (
            "check",
            json!({"counts": "/etc/passwd", "baseline": "v1", "candidate": "v2"}),
        ),
        ("top", json!({"selector": "../x"})),
        ("top", json!({"named": {"file": "x"}})),
        (
            "check",
            json!({"baseline": "/etc/passwd", "candidate": "v2"}),
        ),
    ] {
        let refused = server.post(
            &format!("/api/v1/questions/{question}"),
            request.to_string(),
        );
        assert!(
            refused.problem(403).contains("cannot read files"),
            "{question}: {}",
            refused.text
        );
    }
}
