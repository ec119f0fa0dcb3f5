//! A request in JSON.

use super::resources::{Resource, Resources};
use crate::problem::Problem;
use crate::wording::plain;
use axum::body::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

/// A request, and the text of its parts.
pub(super) struct Request<'b> {
    resources: Vec<Resource>,
    texts: Vec<&'b RawValue>,
    dictionary: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Export<'b> {
    #[serde(borrow, default)]
    resource_profiles: Vec<&'b RawValue>,
    #[serde(borrow)]
    dictionary: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dictionary {
    #[serde(default)]
    string_table: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceProfiles {
    #[serde(default)]
    resource: Option<Attributes>,
    #[serde(default)]
    scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(default)]
    attributes: Vec<KeyValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyValue {
    #[serde(default)]
    key: String,
    key_strindex: Option<Value>,
    value: Option<AnyValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyValue {
    string_value: Option<Value>,
    bool_value: Option<Value>,
    int_value: Option<Value>,
    double_value: Option<Value>,
    string_value_strindex: Option<Value>,
}

#[derive(Deserialize)]
struct ScopeProfiles {
    #[serde(default)]
    profiles: Vec<IgnoredAny>,
}

impl<'b> Request<'b> {
    pub(super) fn parse(bytes: &'b [u8]) -> Result<Request<'b>, Problem> {
        Request::read(bytes).map_err(|error| {
            let error = plain("", &error.to_string());
            Problem::bad_request(format!("the request: {error}"))
        })
    }

    fn read(bytes: &'b [u8]) -> serde_json::Result<Request<'b>> {
        let export: Export<'b> = serde_json::from_slice(bytes)?;
        let strings = match export.dictionary {
            Some(dictionary) => serde_json::from_str::<Dictionary>(dictionary.get())?.string_table,
            None => Vec::new(),
        };
        let resources = export.resource_profiles.iter().map(|text| {
            let found: ResourceProfiles = serde_json::from_str(text.get())?;
            let attributes = found.resource.map(|resource| resource.attributes);
            let attributes = attributes.into_iter().flatten();
            let scopes = found.scope_profiles.iter();
            Ok(Resource {
                labels: attributes
                    .filter_map(|attribute| attribute.label(&strings))
                    .collect(),
                profiles: scopes.map(|scope| scope.profiles.len() as u64).sum(),
            })
        });
        Ok(Request {
            resources: resources.collect::<serde_json::Result<_>>()?,
            texts: export.resource_profiles,
            dictionary: export.dictionary,
        })
    }
}

impl Resources for Request<'_> {
    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn only(&self, resources: &[usize]) -> Bytes {
        let texts: Vec<&str> = resources.iter().map(|&ix| self.texts[ix].get()).collect();
        let dictionary = self
            .dictionary
            .map(|dictionary| format!(",\"dictionary\":{dictionary}"));
        let dictionary = dictionary.unwrap_or_default();
        format!("{{\"resourceProfiles\":[{}]{dictionary}}}", texts.join(",")).into()
    }
}

impl KeyValue {
    /// Returns `None` if the value is a list, a map or bytes.
    fn label(self, strings: &[String]) -> Option<(String, String)> {
        let text_at = |ix: &Value| {
            let ix: usize = text_of(ix)?.parse().ok()?;
            // Index 0 means none.
            strings.get(ix).filter(|_| ix > 0).cloned()
        };
        let key = self
            .key_strindex
            .as_ref()
            .and_then(text_at)
            .unwrap_or(self.key);
        let value = self.value?;
        let plain_values = [
            value.string_value,
            value.bool_value,
            value.int_value,
            value.double_value,
        ];
        let mut found = plain_values.iter().flatten().filter_map(text_of);
        let value = found
            .next()
            .or_else(|| value.string_value_strindex.as_ref().and_then(text_at))?;
        Some((key, value))
    }
}

/// A text, a number or a truth value as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}
