//! OTLP's messages as of 1.10, for the independent encoders `prost` and `serde_json`.
//!
//! Source: `opentelemetry/proto/profiles/v1development/profiles.proto` of
//! <https://github.com/open-telemetry/opentelemetry-proto>.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::{Serialize, Serializer};

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfilesData {
    #[prost(message, repeated, tag = "1")]
    pub(crate) resource_profiles: Vec<ResourceProfiles>,
    #[prost(message, optional, tag = "2")]
    pub(crate) dictionary: Option<Dictionary>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dictionary {
    #[prost(message, repeated, tag = "1")]
    pub(crate) mapping_table: Vec<Mapping>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) location_table: Vec<Location>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) function_table: Vec<Function>,
    #[prost(string, repeated, tag = "5")]
    pub(crate) string_table: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) attribute_table: Vec<Attribute>,
    #[prost(message, repeated, tag = "7")]
    pub(crate) stack_table: Vec<Stack>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceProfiles {
    #[prost(message, optional, tag = "1")]
    pub(crate) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScopeProfiles {
    #[prost(message, repeated, tag = "2")]
    pub(crate) profiles: Vec<Profile>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Profile {
    #[prost(message, optional, tag = "1")]
    pub(crate) sample_type: Option<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
    #[prost(fixed64, tag = "3")]
    pub(crate) time_unix_nano: u64,
    #[prost(uint64, tag = "4")]
    pub(crate) duration_nano: u64,
    #[prost(message, optional, tag = "5")]
    pub(crate) period_type: Option<ValueType>,
    #[prost(int64, tag = "6")]
    pub(crate) period: i64,
    #[prost(int32, repeated, tag = "11")]
    pub(crate) attribute_indices: Vec<i32>,
}

#[derive(Clone, Copy, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ValueType {
    #[prost(int32, tag = "1")]
    pub(crate) type_strindex: i32,
    #[prost(int32, tag = "2")]
    pub(crate) unit_strindex: i32,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sample {
    #[prost(int32, tag = "1")]
    pub(crate) stack_index: i32,
    #[prost(int32, repeated, tag = "2")]
    pub(crate) attribute_indices: Vec<i32>,
    #[prost(int32, tag = "3")]
    pub(crate) link_index: i32,
    #[prost(int64, repeated, tag = "4")]
    pub(crate) values: Vec<i64>,
    #[prost(fixed64, repeated, tag = "5")]
    pub(crate) timestamps_unix_nano: Vec<u64>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(crate) memory_start: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) file_offset: u64,
    #[prost(int32, tag = "4")]
    pub(crate) filename_strindex: i32,
    #[prost(int32, repeated, tag = "5")]
    pub(crate) attribute_indices: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stack {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) location_indices: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Location {
    #[prost(int32, tag = "1")]
    pub(crate) mapping_index: i32,
    #[prost(uint64, tag = "2")]
    pub(crate) address: u64,
    #[prost(message, repeated, tag = "3")]
    pub(crate) lines: Vec<Line>,
    #[prost(int32, repeated, tag = "4")]
    pub(crate) attribute_indices: Vec<i32>,
}

#[derive(Clone, Copy, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line {
    #[prost(int32, tag = "1")]
    pub(crate) function_index: i32,
    #[prost(int64, tag = "2")]
    pub(crate) line: i64,
}

#[derive(Clone, Copy, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Function {
    #[prost(int32, tag = "1")]
    pub(crate) name_strindex: i32,
    #[prost(int32, tag = "2")]
    pub(crate) system_name_strindex: i32,
    #[prost(int32, tag = "3")]
    pub(crate) filename_strindex: i32,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attribute {
    #[prost(int32, tag = "1")]
    pub(crate) key_strindex: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<AnyValue>,
    #[prost(int32, tag = "3")]
    pub(crate) unit_strindex: i32,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<AnyValue>,
    #[prost(int32, tag = "3")]
    pub(crate) key_strindex: i32,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 7, 8")]
    #[serde(flatten)]
    pub(crate) value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize)]
pub(crate) enum Value {
    #[prost(string, tag = "1")]
    #[serde(rename = "stringValue")]
    Text(String),
    #[prost(bool, tag = "2")]
    #[serde(rename = "boolValue")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    #[serde(rename = "intValue")]
    Number(i64),
    #[prost(double, tag = "4")]
    #[serde(rename = "doubleValue")]
    Fraction(f64),
    #[prost(message, tag = "5")]
    #[serde(rename = "arrayValue")]
    List(List),
    #[prost(bytes, tag = "7")]
    #[serde(rename = "bytesValue", serialize_with = "base64")]
    Bytes(Vec<u8>),
    #[prost(int32, tag = "8")]
    #[serde(rename = "stringValueStrindex")]
    TextAt(i32),
}

fn base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

/// Its contents do not matter.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
pub(crate) struct List {
    #[prost(message, repeated, tag = "1")]
    pub(crate) values: Vec<AnyValue>,
}
