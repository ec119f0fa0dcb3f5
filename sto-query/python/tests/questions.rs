//! Makes the methods of the Python package from the questions of the library.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use sto_query::questions::{AnyQuestion, QuestionSchema};
use sto_test_support::assert_golden;

/// The list in each answer that is its table; empty if the answer is not a table.
const LISTS: [(&str, &str); 39] = [
    ("align", ""),
    ("bisect", "commits"),
    ("blame", "lines"),
    ("bottlenecks", "functions"),
    ("builds", "builds"),
    ("calibrate", "visible"),
    ("calibrate-curves", "ways"),
    ("calls", "threads"),
    ("check", "comparisons.findings"),
    ("compare-models", "functions"),
    ("correlate", "metrics"),
    ("cost-over-time", "series"),
    ("diff", "comparison.findings"),
    ("evolve", "stacks"),
    ("expand", "contexts"),
    ("flame", ""),
    ("hot", "spots"),
    ("label-sets", "sets"),
    ("labels", ""),
    ("log", "commits"),
    ("model-function", "points"),
    ("model-two", "points"),
    ("models", "functions"),
    ("occurrences", "runs"),
    ("outliers", "outliers"),
    ("phases", "phases"),
    ("potential", "functions"),
    ("regressions-over-time", "functions"),
    ("runs", "runs"),
    ("savings", "savings"),
    ("search", "found"),
    ("series", "points"),
    ("show", "profiles"),
    ("source", "files.lines"),
    ("suspects", "suspects"),
    ("timeline", "rows"),
    ("top", "functions"),
    ("tree", "nodes"),
    ("waits", "functions"),
];

/// Fields that are passed by position, in this order.
const BY_POSITION: [&str; 7] = [
    "named",
    "baseline",
    "candidate",
    "function",
    "text",
    "path",
    "metric",
];
/// Fields without a default.
const REQUIRED: [&str; 3] = ["named", "baseline", "candidate"];

/// Methods that have another name than their question.
const NAMES: [(&str, &str); 1] = [("check", "compare")];
/// Answers that can do more than others.
const ANSWERS: [(&str, &str); 3] = [("diff", "Drawing"), ("flame", "Drawing"), ("tree", "Tree")];

/// Width of lines.
const WIDTH: usize = 100;

const HEAD: &str = r#""""The questions to a store.

Made from the library's schemas by `STO_UPDATE_GOLDENS=1 cargo test -p sto-python`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, Union

from ._answers import Answer, Drawing, Tree

A = TypeVar("A", bound=Answer)

#: A build: a selector as on the command line (`v1`, `demo@v1`, a tag, `git:HEAD`), the path of a
#: file, or an object with `runs` or `labelled`.
Build = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"#;

const TABLES: &str = r#"

#: The list of each answer that is its table, and the path and type of each column.
TABLES: dict[str, tuple[str, str]] = {
"#;

const CLASS: &str = r#"}


class Questions:
    """A method for each question."""

    def _ask(self, answer: type[A], question: str, fields: dict[str, Any]) -> A:
        """Answers a question. Fields that are None, and `self`, are not passed on."""
        raise NotImplementedError
"#;

#[test]
fn methods_of_python_are_those_of_the_questions() {
    let mut requests = generator(SchemaSettings::draft2020_12());
    let mut answers = generator(SchemaSettings::draft2020_12().for_serialize());
    let questions = AnyQuestion::describe(&mut requests, &mut answers);
    let definitions = |generator: &mut SchemaGenerator| generator.take_definitions(true);
    let python = Python {
        requests: definitions(&mut requests),
        answers: definitions(&mut answers),
    };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/sto/_questions.py");
    assert_golden(&golden, &python.module(&questions));
}

fn generator(settings: SchemaSettings) -> SchemaGenerator {
    settings.into_generator()
}

/// The definitions that schemas refer to.
struct Python {
    requests: Map<String, Value>,
    answers: Map<String, Value>,
}

impl Python {
    fn module(&self, questions: &[QuestionSchema]) -> String {
        let mut text = HEAD.to_owned();
        for name in self.types(questions) {
            text += &self.definition(&name);
        }
        text += TABLES;
        for question in questions {
            text += &self.table(question);
        }
        text += CLASS;
        for question in questions {
            text += &self.method(question);
        }
        text
    }

    /// The fields of a request.
    fn fields<'a>(&'a self, question: &'a QuestionSchema) -> Option<&'a Map<String, Value>> {
        properties(&self.requests, question.request.as_value())
    }

    /// The names of all types that requests use.
    fn types(&self, questions: &[QuestionSchema]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let fields = questions
            .iter()
            .filter_map(|question| self.fields(question));
        fields
            .flat_map(Map::values)
            .for_each(|field| self.add_types(field, &mut found));
        found
    }

    fn add_types(&self, schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Array(parts) => parts.iter().for_each(|part| self.add_types(part, found)),
            Value::Object(object) => {
                if let Some(name) = reference(schema)
                    && self.is_named(name)
                    && found.insert(name.to_owned())
                {
                    self.add_types(&self.requests[name], found);
                }
                let parts = object.iter().filter(|(key, _)| *key != "default");
                parts.for_each(|(_, part)| self.add_types(part, found));
            }
            _ => {}
        }
    }

    /// Whether a definition has a name in Python, rather than being written out.
    fn is_named(&self, name: &str) -> bool {
        let schema = &self.requests[name];
        words(schema).is_some() || schema["properties"].is_object()
    }

    fn definition(&self, name: &str) -> String {
        let schema = &self.requests[name];
        if let Some(words) = words(schema) {
            return format!("\n{name} = Literal[{}]\n", quoted(&words).join(", "));
        }
        let mut text = format!("\n\nclass {name}(TypedDict, total=False):\n");
        text += &docstring(&paragraphs(schema), 4);
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            assert!(
                !KEYWORDS.contains(&&**field),
                "`{field}` is a keyword of Python"
            );
            let _ = write!(text, "\n    {field}: {}\n", self.type_of(schema));
            text += &docstring(&paragraphs(schema), 4);
        }
        text
    }

    fn type_of(&self, schema: &Value) -> String {
        if let Some(name) = reference(schema) {
            return match name {
                "BuildRef" | "Baseline" => "Build".to_owned(),
                _ if self.is_named(name) => name.to_owned(),
                _ => self.type_of(&self.requests[name]),
            };
        }
        if let Some(variants) = schema["anyOf"].as_array() {
            let types = variants.iter().map(|variant| self.type_of(variant));
            return types.collect::<Vec<_>>().join(" | ");
        }
        match &schema["type"] {
            Value::Array(types) => {
                let types = types.iter().filter_map(Value::as_str).map(simple_type);
                types.collect::<Vec<_>>().join(" | ")
            }
            Value::String(kind) if kind == "array" => {
                format!("Sequence[{}]", self.type_of(&schema["items"]))
            }
            Value::String(kind) => simple_type(kind).to_owned(),
            _ => "Any".to_owned(),
        }
    }

    fn method(&self, question: &QuestionSchema) -> String {
        let fields = self.fields(question).cloned().unwrap_or_default();
        let by_position = BY_POSITION
            .iter()
            .filter_map(|name| fields.get_key_value(*name));
        let by_name = fields
            .iter()
            .filter(|(name, _)| !BY_POSITION.contains(&&***name));
        let parameter = |name: &str, schema: &Value| match self.type_of(schema) {
            kind if REQUIRED.contains(&name) => format!("{name}: {kind}"),
            kind if kind.ends_with("None") || kind == "Any" => format!("{name}: {kind} = None"),
            kind => format!("{name}: {kind} | None = None"),
        };
        let mut parameters = vec!["self".to_owned()];
        parameters.extend(
            by_position
                .clone()
                .map(|(name, schema)| parameter(name, schema)),
        );
        parameters.push("*".to_owned());
        parameters.extend(
            by_name
                .clone()
                .map(|(name, schema)| parameter(name, schema)),
        );
        if parameters.last().is_some_and(|last| last == "*") {
            parameters.pop();
        }
        let name = NAMES.iter().find(|(asked, _)| *asked == question.name);
        let name = name.map_or(question.name.replace('-', "_"), |(_, name)| {
            (*name).to_owned()
        });
        let answer = ANSWERS.iter().find(|(asked, _)| *asked == question.name);
        let answer = answer.map_or("Answer", |(_, answer)| answer);
        let mut text = format!("\n    def {name}(\n");
        for parameter in parameters {
            let _ = writeln!(text, "        {parameter},");
        }
        let _ = writeln!(text, "    ) -> {answer}:");
        text += &self.about(question, by_position.chain(by_name));
        let _ = writeln!(
            text,
            "        return self._ask({answer}, \"{}\", locals())",
            question.name
        );
        text
    }

    /// The docstring of a method.
    fn about<'a>(
        &self,
        question: &QuestionSchema,
        parameters: impl Iterator<Item = (&'a String, &'a Value)>,
    ) -> String {
        let parameters = parameters.map(|(name, schema)| {
            let default = match &schema["default"] {
                Value::Number(number) => format!(" By default {number}."),
                Value::String(word) if !word.is_empty() => format!(" By default `{word}`."),
                _ => String::new(),
            };
            entry(name, &(first_paragraph(schema) + &default))
        });
        let parameters: String = parameters.collect();
        let mut text = format!("        \"\"\"{}\n\n", question.about);
        if !parameters.is_empty() {
            text += &format!("        Args:\n{parameters}\n");
        }
        let table = match list_of(&question.name) {
            "" => String::new(),
            list => format!(", and as a table a row for each of `{list}`"),
        };
        text += &format!("        Returns:\n            An answer with these fields{table}:\n\n");
        let fields = properties(&self.answers, &question.answer.as_value()["allOf"][0]);
        for (name, schema) in fields.expect("an answer is an object") {
            text += &entry(name, &first_paragraph(schema));
        }
        text + "        \"\"\"\n"
    }

    /// The entry of a question in `TABLES`.
    fn table(&self, question: &QuestionSchema) -> String {
        let list = list_of(&question.name);
        if list.is_empty() {
            return String::new();
        }
        let mut row = &question.answer.as_value()["allOf"][0];
        for name in list.split('.') {
            let row_fields = properties(&self.answers, row).expect("an object contains the list");
            row = &row_fields[name];
            row = row.get("items").unwrap_or(row);
        }
        let mut columns = Vec::new();
        self.add_columns("", row, &mut columns);
        assert!(
            !columns.is_empty(),
            "{}: `{list}` has no columns",
            question.name
        );
        let columns: Vec<_> = columns
            .iter()
            .map(|(path, kind)| format!("{path}:{kind}"))
            .collect();
        let columns = wrap(&columns.join(" "), &" ".repeat(8));
        let name = &question.name;
        format!("    \"{name}\": (\"{list}\", \"\"\"\n{columns}\n    \"\"\"),\n")
    }

    fn add_columns(&self, path: &str, row: &Value, columns: &mut Vec<(String, &'static str)>) {
        for (name, schema) in properties(&self.answers, row).into_iter().flatten() {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            if properties(&self.answers, schema).is_some() {
                self.add_columns(&path, schema, columns);
            } else {
                columns.push((path, self.column_type(schema)));
            }
        }
    }

    fn column_type(&self, schema: &Value) -> &'static str {
        if let Some(name) = reference(schema) {
            return self.column_type(&self.answers[name]);
        }
        let variants = schema["anyOf"].as_array().into_iter().flatten();
        let mut variants = variants.filter(|variant| variant["type"] != "null");
        if let (Some(only), None) = (variants.next(), variants.next()) {
            return self.column_type(only);
        }
        let types = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            Value::String(kind) => vec![&**kind],
            _ if words(schema).is_some() => vec!["string"],
            _ => Vec::new(),
        };
        match types[..] {
            ["integer"] | ["integer", "null"] => "int",
            ["number"] | ["number", "null"] => "float",
            ["boolean"] | ["boolean", "null"] => "bool",
            ["string"] | ["string", "null"] => "str",
            _ => "json",
        }
    }
}

fn list_of(question: &str) -> &'static str {
    let list = LISTS.iter().find(|(name, _)| *name == question);
    list.unwrap_or_else(|| panic!("say in LISTS which list of `{question}` is its table"))
        .1
}

const KEYWORDS: [&str; 7] = ["and", "as", "from", "in", "is", "not", "or"];

fn simple_type(kind: &str) -> &'static str {
    match kind {
        "string" => "str",
        "integer" => "int",
        "number" => "float",
        "boolean" => "bool",
        "null" => "None",
        "object" => "Mapping[str, Any]",
        _ => "Any",
    }
}

/// The name of the definition that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The properties of an object, which may be optional or a definition.
fn properties<'a>(
    definitions: &'a Map<String, Value>,
    schema: &'a Value,
) -> Option<&'a Map<String, Value>> {
    if let Some(name) = reference(schema) {
        return properties(definitions, definitions.get(name)?);
    }
    if let Some([schema, null]) = schema["anyOf"].as_array().map(|variants| &variants[..])
        && null["type"] == "null"
    {
        return properties(definitions, schema);
    }
    schema["properties"].as_object()
}

/// The words of an enumeration.
fn words(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::as_str).collect();
    }
    let variants = schema["oneOf"].as_array()?.iter();
    variants.map(|variant| variant["const"].as_str()).collect()
}

fn quoted(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

/// The paragraphs of a description, without Rust's notation.
fn paragraphs(schema: &Value) -> Vec<String> {
    let text = schema["description"].as_str().unwrap_or_default();
    let text = text
        .replace("[`", "`")
        .replace("`]", "`")
        .replace("`None`", "None");
    let parts = text.split("\n\n").filter(|part| !part.is_empty());
    parts.map(|part| part.replace('\n', " ")).collect()
}

fn first_paragraph(schema: &Value) -> String {
    paragraphs(schema).into_iter().next().unwrap_or_default()
}

/// A docstring of these paragraphs; empty without any.
fn docstring(paragraphs: &[String], indent: usize) -> String {
    let margin = " ".repeat(indent);
    let wrapped = paragraphs.iter().map(|paragraph| wrap(paragraph, &margin));
    match &wrapped.collect::<Vec<_>>()[..] {
        [] => String::new(),
        [only] if !only.contains('\n') && only.len() + 6 <= WIDTH => {
            format!("{margin}\"\"\"{}\"\"\"\n", only.trim_start())
        }
        all => format!(
            "{margin}\"\"\"{}\n{margin}\"\"\"\n",
            all.join("\n\n").trim_start()
        ),
    }
}

/// The lines of a field in a docstring.
fn entry(name: &str, about: &str) -> String {
    let lines = wrap(&format!("{name}: {about}"), &" ".repeat(16));
    format!("{}{}\n", " ".repeat(12), lines.trim_start())
}

/// Breaks a paragraph into lines after this margin.
fn wrap(paragraph: &str, margin: &str) -> String {
    let mut lines = vec![margin.to_owned()];
    for word in paragraph.split(' ') {
        let last = lines.last_mut().expect("there is a first line");
        if last.len() + 1 + word.len() > WIDTH && last.len() > margin.len() {
            lines.push(format!("{margin}{word}"));
        } else {
            let gap = if last.len() > margin.len() { " " } else { "" };
            *last += &format!("{gap}{word}");
        }
    }
    lines.join("\n")
}
