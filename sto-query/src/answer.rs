//! Answers: what each question comes to, as plain data that is printed as text or as JSON.

use serde::Serialize;

/// The answer to a question. As JSON, the name and version of its schema stand first: a version keeps the
/// meaning of every field, and may gain fields.
pub trait Answer: Serialize {
    /// Name and version: `sto.top/1`.
    const SCHEMA: &'static str;
}

/// An answer behind the name of its schema.
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

/// An answer about a store, with the store's folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
