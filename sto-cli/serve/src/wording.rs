//! Messages of serde, rewritten without the names of Rust's types.

/// Rewrites a message of serde about the value at a path, such as `filter.event`; `.` is the whole.
pub(crate) fn plain(path: &str, message: &str) -> String {
    let message = without_place(message);
    let is_known = !["", ".", "?"].contains(&path);
    let parts = |prefix: &str| {
        let rest = message.strip_prefix(prefix)?;
        rest.split_at_checked(rest.find(", expected ").or_else(|| rest.find(", there "))?)
    };
    // The path of an unknown field includes its name, but the one of a missing field does not.
    if let Some((field, expected)) = parts("unknown field ") {
        let field = if is_known {
            format!("`{path}`")
        } else {
            field.to_owned()
        };
        return format!("unknown field {field}{expected}");
    }
    if let Some(field) = message.strip_prefix("missing field `") {
        let parent = if is_known {
            format!("{path}.")
        } else {
            String::new()
        };
        return format!("the field `{parent}{field} is missing");
    }
    let text = if let Some((variant, expected)) = parts("unknown variant ") {
        format!("found {variant}{expected}")
    } else if let Some((value, expected)) =
        parts("invalid type: ").or_else(|| parts("invalid value: "))
    {
        let expected = expected.trim_start_matches(", expected ");
        format!(
            "found {}, expected {}",
            found(value),
            expected_kind(expected)
        )
    } else if let Some((length, expected)) = parts("invalid length ") {
        format!("found {length} values{expected}")
    } else if message.starts_with("data did not match any variant") {
        "found none of the expected forms; /api/v1/openapi.json describes them".to_owned()
    } else {
        plain_error(message).to_owned()
    };
    if is_known {
        format!("`{path}`: {text}")
    } else {
        text
    }
}

/// Rewrites an error of parsing a number or truth value; other messages stay as they are.
pub(crate) fn plain_error(message: &str) -> &str {
    match message {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "expected a whole number"
        }
        "number too large to fit in target type" => "the number is too large",
        "number too small to fit in target type" => "the number is too small",
        "invalid float literal" | "cannot parse float from empty string" => "expected a number",
        "provided string was not `true` or `false`" => "expected `true` or `false`",
        message => message,
    }
}

/// Removes the place in the text, because fields have names.
fn without_place(message: &str) -> &str {
    let place = message.rfind(" at line ");
    place.map_or(message, |at| &message[..at])
}

fn found(value: &str) -> String {
    let (kind, quoted) = value.split_once(' ').unwrap_or((value, ""));
    match (kind, quoted.trim_start_matches("point ").trim_matches('`')) {
        ("string", text) => format!("the text {text}"),
        ("integer" | "floating", number) => format!("the number {number}"),
        ("boolean", value) => value.to_owned(),
        ("map", "") => "an object".to_owned(),
        ("sequence", "") => "a list".to_owned(),
        _ => value.to_owned(),
    }
}

fn expected_kind(kind: &str) -> &str {
    match kind {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            "a whole number"
        }
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" => "text",
        "a boolean" => "`true` or `false`",
        "a map" => "an object",
        "a sequence" => "a list",
        kind if kind.starts_with("struct ") => "an object",
        kind if kind.starts_with("enum ") || kind == "string or map" => "text or an object",
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_field_and_no_type_of_rust() {
        for (path, message, expected) in [
            (
                "filter.evnt",
                "unknown field `evnt`, expected `event` at line 1 column 9",
                "unknown field `filter.evnt`, expected `event`",
            ),
            (
                ".",
                "missing field `sql` at line 1 column 2",
                "the field `sql` is missing",
            ),
            ("a[0]", "missing field `b`", "the field `a[0].b` is missing"),
            (
                "log",
                "unknown variant `xml`, expected `text` or `json`",
                "`log`: found `xml`, expected `text` or `json`",
            ),
            (
                "limit",
                "invalid type: string \"three, four\", expected u64",
                "`limit`: found the text \"three, four\", expected a whole number",
            ),
            (
                "limit",
                "invalid value: integer `-1`, expected usize",
                "`limit`: found the number -1, expected a whole number",
            ),
            (
                "share",
                "invalid type: floating point `1.5`, expected struct Share",
                "`share`: found the number 1.5, expected an object",
            ),
            (
                "named",
                "invalid type: map, expected a sequence",
                "`named`: found an object, expected a list",
            ),
            (
                "x",
                "invalid digit found in string",
                "`x`: expected a whole number",
            ),
            ("", "expected one of two forms", "expected one of two forms"),
        ] {
            assert_eq!(plain(path, message), expected);
        }
    }
}
