//! Parsing errors, and serialization of types as text or in binary.

/// A text that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {expected}")]
pub struct ParseError {
    /// For example `an id of 32 hexadecimal digits`.
    expected: &'static str,
    found: String,
}

impl ParseError {
    pub(crate) fn new(expected: &'static str, found: &str) -> Self {
        let found = found.chars().take(64).collect();
        ParseError { expected, found }
    }
}

/// Decodes hexadecimal digits, two per byte.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

/// Implements serde's traits for a type: as text (by `Display` and `FromStr`) in human-readable formats such as
/// JSON, and as `$parts` in binary formats such as the store's records.
macro_rules! serde_text_or_parts {
    ($type:ty, $parts:ty, $into:expr, $from:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return serializer.collect_str(self);
                }
                let into: fn(&$type) -> $parts = $into;
                into(self).serialize(serializer)
            }
        }

        #[cfg(feature = "schemas")]
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                if deserializer.is_human_readable() {
                    let text = String::deserialize(deserializer)?;
                    return text.parse().map_err(Error::custom);
                }
                let from: fn($parts) -> Option<$type> = $from;
                let parts = <$parts>::deserialize(deserializer)?;
                from(parts).ok_or_else(|| Error::custom("an unknown number"))
            }
        }
    };
}
pub(crate) use serde_text_or_parts;
