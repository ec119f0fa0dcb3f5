//! Answers: results of queries as plain data, which is printed as text or JSON.

#[cfg(feature = "schemas")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(not(feature = "schemas"))]
use without_schemas::JsonSchema;

/// The answer to a query. In JSON, the name and version of its schema come first. Within a version, fields may be
/// added but never change their meaning.
pub trait Answer: Serialize + JsonSchema {
    /// Name and version of the schema, such as `sto.top/1`.
    const SCHEMA: &'static str;
}

/// An answer preceded by the name of its schema.
#[derive(Serialize)]
pub(crate) struct Named<'a, A> {
    schema: &'static str,
    #[serde(flatten)]
    answer: &'a A,
}

impl<'a, A: Answer> From<&'a A> for Named<'a, A> {
    fn from(answer: &'a A) -> Self {
        Named {
            schema: A::SCHEMA,
            answer,
        }
    }
}

/// Formats an answer as indented JSON with a final line feed.
///
/// # Errors
///
/// Returns an error if the answer's serializer fails; the serializers of this crate never do.
pub fn json<A: Answer>(answer: &A) -> Result<String, serde_json::Error> {
    let mut json = serde_json::to_string_pretty(&Named::from(answer))?;
    json.push('\n');
    Ok(json)
}

/// Returns the JSON schema (draft 2020-12) of the output of [`json()`].
#[cfg(feature = "schemas")]
pub fn schema<A: Answer>() -> schemars::Schema {
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.insert("title".to_owned(), A::SCHEMA.into());
    let name = json!({ "const": A::SCHEMA });
    for (key, value) in [
        ("properties", json!({ "schema": name })),
        ("required", json!(["schema"])),
    ] {
        match (schema.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => {
                schema.insert(key.to_owned(), value);
            }
        }
    }
    schema
}

/// Outcome for the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one function is slower or new.
    Regression,
    /// No regression was detected.
    Clean,
    /// The data are insufficient.
    Insufficient,
}

impl Verdict {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Regression => "regression",
            Verdict::Clean => "clean",
            Verdict::Insufficient => "insufficient",
        }
    }
}

/// Without schemas, every type may be an answer.
#[cfg(not(feature = "schemas"))]
mod without_schemas {
    pub trait JsonSchema {}

    impl<A> JsonSchema for A {}
}

/// An answer about a store, with the store's folder.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct InStore<A> {
    /// The store's folder.
    pub store: String,
    /// The answer.
    #[serde(flatten)]
    pub answer: A,
}

impl<A: Answer> Answer for InStore<A> {
    const SCHEMA: &'static str = A::SCHEMA;
}

/// Truncates a list to the limit, and returns the number of removed elements.
pub(crate) fn truncate<T>(list: &mut Vec<T>, limit: Option<usize>) -> usize {
    let all = list.len();
    list.truncate(limit.unwrap_or(all));
    all - list.len()
}
