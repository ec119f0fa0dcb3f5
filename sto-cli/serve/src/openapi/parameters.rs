//! Parameters of addresses, from the types that they are parsed to.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// Returns the parameters of a query: the fields of a type.
pub(super) fn of_query<T: JsonSchema>(generator: &mut SchemaGenerator) -> Vec<Value> {
    let schema = T::json_schema(generator).to_value();
    let required = schema["required"].as_array();
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, field)| {
            let mut field = field.clone();
            let about = field
                .as_object_mut()
                .and_then(|field| field.remove("description"));
            let mut parameter = json!({
                "name": name,
                "in": "query",
                "required": is_required(name),
                "schema": field,
            });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            parameter
        })
        .collect()
}

/// Returns a parameter with a text, such as a part of the path.
pub(super) fn text(name: &str, place: &str, about: &str) -> Value {
    json!({
        "name": name,
        "in": place,
        "required": place == "path",
        "description": about,
        "schema": { "type": "string" },
    })
}
