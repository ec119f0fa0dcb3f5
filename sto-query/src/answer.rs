//! Answers: what each question comes to, as plain data that is printed as text or as JSON.

#[cfg(feature = "schemas")]
use schemars::JsonSchema;
use serde::Serialize;
#[cfg(not(feature = "schemas"))]
use without_schemas::JsonSchema;

/// The answer to a question. As JSON, the name and version of its schema stand first: a version keeps the
/// meaning of every field, and may gain fields.
pub trait Answer: Serialize + JsonSchema {
    /// Name and version: `sto.top/1`.
    const SCHEMA: &'static str;
}

/// An answer after the name of its schema.
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

/// An answer as indented JSON, with a line feed at its end.
///
/// # Errors
/// Where its own serializer fails; those of this crate do not.
pub fn json<A: Answer>(answer: &A) -> Result<String, serde_json::Error> {
    let mut json = serde_json::to_string_pretty(&Named::from(answer))?;
    json.push('\n');
    Ok(json)
}

/// The JSON schema (draft 2020-12) of what [`json()`] writes of an answer.
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

/// Whether the candidate got worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one function got slower, or is new.
    Regression,
    /// Nothing got slower that this comparison can see.
    Clean,
    /// The data are insufficient.
    Insufficient,
}

impl Verdict {
    /// As JSON names it.
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

/// Leaves the first ones in a list, as many as there may be, and returns the number of those that went.
pub(crate) fn limited<T>(list: &mut Vec<T>, limit: Option<usize>) -> usize {
    let all = list.len();
    list.truncate(limit.unwrap_or(all));
    all - list.len()
}
