//! Messages of `querier.v1` as JSON values, read from and written to Protocol Buffers by tables of their fields.
//!
//! Source of names and numbers: `api/querier/v1/querier.proto`, `api/types/v1/types.proto` and
//! `api/google/v1/profile.proto` of <https://github.com/grafana/pyroscope>.

use crate::parse::json;
use crate::problem::Problem;
use crate::wire::Codec;
use crate::wording::plain;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use sto_core::formats::{DecodeError, Message, MessageWriter};

/// A field of a message.
pub(super) struct Field {
    number: u32,
    /// The name in JSON.
    name: &'static str,
    kind: Kind,
    is_repeated: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// A signed integer, which JSON writes as text.
    Integer,
    Float,
    Message(&'static [Field]),
}

const fn field(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        number,
        name,
        kind,
        is_repeated: false,
    }
}

const fn text(number: u32, name: &'static str) -> Field {
    field(number, name, Kind::Text)
}

const fn integer(number: u32, name: &'static str) -> Field {
    field(number, name, Kind::Integer)
}

const fn message(number: u32, name: &'static str, fields: &'static [Field]) -> Field {
    field(number, name, Kind::Message(fields))
}

const fn repeated(field: Field) -> Field {
    Field {
        is_repeated: true,
        ..field
    }
}

pub(super) static PROFILE_TYPES: [&[Field]; 2] = [
    &[integer(1, "start"), integer(2, "end")],
    &[repeated(message(1, "profileTypes", PROFILE_TYPE))],
];
pub(super) static LABEL_NAMES: [&[Field]; 2] = [
    &[
        repeated(text(1, "matchers")),
        integer(2, "start"),
        integer(3, "end"),
    ],
    &[repeated(text(1, "names"))],
];
pub(super) static LABEL_VALUES: [&[Field]; 2] = [
    &[
        text(1, "name"),
        repeated(text(2, "matchers")),
        integer(3, "start"),
        integer(4, "end"),
    ],
    &[repeated(text(1, "names"))],
];
pub(super) static SERIES: [&[Field]; 2] = [
    &[
        repeated(text(1, "matchers")),
        repeated(text(2, "labelNames")),
        integer(3, "start"),
        integer(4, "end"),
    ],
    &[repeated(message(2, "labelsSet", LABELS))],
];
pub(super) static SELECT_SERIES: [&[Field]; 2] = [
    &[
        text(1, "profileTypeID"),
        text(2, "labelSelector"),
        integer(3, "start"),
        integer(4, "end"),
        repeated(text(5, "groupBy")),
        field(6, "step", Kind::Float),
        integer(7, "aggregation"),
        message(8, "stackTraceSelector", STACK_TRACE_SELECTOR),
        integer(9, "limit"),
    ],
    &[repeated(message(
        1,
        "series",
        &[
            repeated(message(1, "labels", LABEL)),
            repeated(message(
                2,
                "points",
                &[field(1, "value", Kind::Float), integer(2, "timestamp")],
            )),
        ],
    ))],
];
pub(super) static SELECT_MERGE_STACKTRACES: [&[Field]; 2] =
    [STACKTRACES, &[message(1, "flamegraph", FLAME_GRAPH)]];
pub(super) static SELECT_MERGE_PROFILE: [&[Field]; 2] = [
    &[
        text(1, "profileTypeID"),
        text(2, "labelSelector"),
        integer(3, "start"),
        integer(4, "end"),
        integer(5, "maxNodes"),
        message(6, "stackTraceSelector", STACK_TRACE_SELECTOR),
        repeated(text(7, "profileIdSelector")),
    ],
    PROFILE,
];
pub(super) static DIFF: [&[Field]; 2] = [
    &[
        message(1, "left", STACKTRACES),
        message(2, "right", STACKTRACES),
    ],
    &[message(
        1,
        "flamegraph",
        &[
            repeated(text(1, "names")),
            repeated(message(2, "levels", LEVEL)),
            integer(3, "total"),
            integer(4, "maxSelf"),
            integer(5, "leftTicks"),
            integer(6, "rightTicks"),
        ],
    )],
];

const STACKTRACES: &[Field] = &[
    text(1, "profileTypeID"),
    text(2, "labelSelector"),
    integer(3, "start"),
    integer(4, "end"),
    integer(5, "maxNodes"),
    integer(6, "format"),
    message(7, "stackTraceSelector", STACK_TRACE_SELECTOR),
    repeated(text(8, "profileIdSelector")),
];
const STACK_TRACE_SELECTOR: &[Field] = &[
    repeated(message(1, "callSite", &[text(1, "name")])),
    message(
        2,
        "goPgo",
        &[integer(1, "keepLocations"), integer(2, "aggregateCallees")],
    ),
];
const PROFILE_TYPE: &[Field] = &[
    text(1, "ID"),
    text(2, "name"),
    text(4, "sampleType"),
    text(5, "sampleUnit"),
    text(6, "periodType"),
    text(7, "periodUnit"),
];
const LABEL: &[Field] = &[text(1, "name"), text(2, "value")];
const LABELS: &[Field] = &[repeated(message(1, "labels", LABEL))];
const LEVEL: &[Field] = &[repeated(integer(1, "values"))];
const FLAME_GRAPH: &[Field] = &[
    repeated(text(1, "names")),
    repeated(message(2, "levels", LEVEL)),
    integer(3, "total"),
    integer(4, "maxSelf"),
];

/// The fields of pprof that this program writes.
const PROFILE: &[Field] = &[
    repeated(message(1, "sampleType", VALUE_TYPE)),
    repeated(message(
        2,
        "sample",
        &[
            repeated(integer(1, "locationId")),
            repeated(integer(2, "value")),
        ],
    )),
    repeated(message(
        3,
        "mapping",
        &[
            integer(1, "id"),
            integer(5, "filename"),
            integer(6, "buildId"),
            integer(7, "hasFunctions"),
            integer(8, "hasFilenames"),
            integer(9, "hasLineNumbers"),
            integer(10, "hasInlineFrames"),
        ],
    )),
    repeated(message(
        4,
        "location",
        &[
            integer(1, "id"),
            integer(2, "mappingId"),
            repeated(message(
                4,
                "line",
                &[integer(1, "functionId"), integer(2, "line")],
            )),
        ],
    )),
    repeated(message(
        5,
        "function",
        &[
            integer(1, "id"),
            integer(2, "name"),
            integer(3, "systemName"),
            integer(4, "filename"),
        ],
    )),
    repeated(text(6, "stringTable")),
    integer(9, "timeNanos"),
    integer(10, "durationNanos"),
    repeated(integer(13, "comment")),
    integer(14, "defaultSampleType"),
];
const VALUE_TYPE: &[Field] = &[integer(1, "type"), integer(2, "unit")];

/// Reads a message of a request.
pub(super) fn decode<T: DeserializeOwned>(
    codec: Codec,
    bytes: &[u8],
    fields: &[Field],
) -> Result<T, Problem> {
    if codec == Codec::Json {
        return json(if bytes.is_empty() { b"{}" } else { bytes });
    }
    let value = read(Message::from_file(bytes), fields).map_err(|error| {
        let error = error.in_file("message".as_ref(), bytes.len());
        Problem::bad_request(error.to_string())
    })?;
    serde_json::from_value(value)
        .map_err(|error| Problem::bad_request(plain("", &error.to_string())))
}

/// Writes a message of an answer.
pub(super) fn encode(codec: Codec, message: &Value, fields: &[Field]) -> Result<Vec<u8>, Problem> {
    match codec {
        Codec::Protobuf => {
            let mut writer = MessageWriter::default();
            write(message, fields, &mut writer);
            Ok(writer.bytes)
        }
        Codec::Json => {
            serde_json::to_vec(&with_texts(message, fields)).map_err(|_| Problem::internal())
        }
    }
}

/// Writes a message of an answer that is in Protocol Buffers.
pub(super) fn transcode(
    codec: Codec,
    bytes: Vec<u8>,
    fields: &[Field],
) -> Result<Vec<u8>, Problem> {
    match codec {
        Codec::Protobuf => Ok(bytes),
        Codec::Json => {
            let message = read(Message::from_file(&bytes), fields);
            encode(codec, &message.map_err(|_| Problem::internal())?, fields)
        }
    }
}

fn read(message: Message<'_>, fields: &[Field]) -> Result<Value, DecodeError> {
    let mut values = Map::new();
    for found in message.fields() {
        let found = found?;
        let Some(field) = fields.iter().find(|field| field.number == found.number) else {
            continue;
        };
        let read_one = || -> Result<Value, DecodeError> {
            Ok(match field.kind {
                Kind::Text => String::from_utf8_lossy(found.bytes()?).into(),
                Kind::Integer => (found.number()? as i64).into(),
                Kind::Float => Number::from_f64(f64::from_bits(found.number()?)).into(),
                Kind::Message(fields) => read(found.message()?, fields)?,
            })
        };
        if !field.is_repeated {
            values.insert(field.name.to_owned(), read_one()?);
            continue;
        }
        let list = values
            .entry(field.name)
            .or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(list) = list else { continue };
        if let Kind::Integer = field.kind {
            let mut numbers = Vec::new();
            found.numbers_into(&mut numbers)?;
            list.extend(numbers.into_iter().map(|number| Value::from(number as i64)));
        } else {
            list.push(read_one()?);
        }
    }
    Ok(values.into())
}

fn write(message: &Value, fields: &[Field], writer: &mut MessageWriter) {
    for field in fields {
        let value = &message[field.name];
        let one = std::slice::from_ref(value);
        let values = value.as_array().map_or(one, Vec::as_slice);
        match field.kind {
            Kind::Integer if field.is_repeated => {
                if !values.is_empty() {
                    writer.numbers(field.number, values.iter().map(integer_of));
                }
            }
            Kind::Integer => writer.number(field.number, integer_of(value)),
            Kind::Text => {
                let texts = values.iter().filter_map(Value::as_str);
                // The default of a field that is not a list is left out.
                for text in texts.filter(|text| field.is_repeated || !text.is_empty()) {
                    writer.bytes(field.number, text.as_bytes());
                }
            }
            Kind::Float => {
                let number = value.as_f64().filter(|&number| number != 0.0);
                if let Some(number) = number {
                    writer.fixed64(field.number, number.to_bits());
                }
            }
            Kind::Message(fields) => {
                for value in values.iter().filter(|value| value.is_object()) {
                    let mut inner = MessageWriter::default();
                    write(value, fields, &mut inner);
                    writer.message(field.number, &inner);
                }
            }
        }
    }
}

fn integer_of(value: &Value) -> u64 {
    value.as_i64().unwrap_or_default() as u64
}

/// Returns a message as Protocol Buffers write it in JSON: integers of 64 bits are texts.
fn with_texts(message: &Value, fields: &[Field]) -> Value {
    let known = fields
        .iter()
        .filter_map(|field| Some((field, message.get(field.name)?)));
    let written = known.map(|(field, value)| (field.name.to_owned(), with_text(value, field.kind)));
    Value::Object(written.collect())
}

fn with_text(value: &Value, kind: Kind) -> Value {
    match (value, kind) {
        (Value::Array(list), _) => list.iter().map(|value| with_text(value, kind)).collect(),
        (Value::Number(number), Kind::Integer) => number.to_string().into(),
        (Value::Object(_), Kind::Message(fields)) => with_texts(value, fields),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_the_same_in_both_encodings() {
        let message = json!({
            "series": [{
                "labels": [{ "name": "a", "value": "1" }],
                "points": [{ "value": 2.5, "timestamp": 1_700_000_000_000_i64 }],
            }],
        });
        let fields = SELECT_SERIES[1];
        let bytes = encode(Codec::Protobuf, &message, fields).unwrap();
        let read: Value = decode(Codec::Protobuf, &bytes, fields).unwrap();
        assert_eq!(read, message);
        let json = encode(Codec::Json, &message, fields).unwrap();
        let written: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(
            written["series"][0]["points"][0]["timestamp"],
            "1700000000000"
        );
    }

    #[test]
    fn negative_and_packed_integers_survive() {
        let message = json!({ "flamegraph": { "names": ["total"], "levels": [{ "values": [0, -7, i64::MAX] }] } });
        let fields = SELECT_MERGE_STACKTRACES[1];
        let bytes = encode(Codec::Protobuf, &message, fields).unwrap();
        let read: Value = decode(Codec::Protobuf, &bytes, fields).unwrap();
        assert_eq!(read, message);
    }

    #[test]
    fn damaged_messages_are_the_clients_fault() {
        for bytes in [&b"\xff"[..], b"\x0a\x05ab", b"\x08", b"\x0b"] {
            let read = decode::<Value>(Codec::Protobuf, bytes, LABEL_NAMES[0]);
            assert_eq!(read.unwrap_err().status, 400);
        }
        let read = decode::<Value>(Codec::Json, b"{", LABEL_NAMES[0]);
        assert_eq!(read.unwrap_err().status, 400);
    }
}
