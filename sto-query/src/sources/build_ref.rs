//! Names of profiles and files.

use crate::select::LabelledRuns;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use sto_core::id::ProfileId;

/// Name of profiles, in most questions of one build. In JSON, plain text is a selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schemas",
    schemars(rename = "BuildRef", transform = also_accept_text)
)]
#[serde(rename_all = "snake_case", remote = "Self")]
#[non_exhaustive]
pub enum BuildRef {
    /// A [`Selector`](crate::select::Selector) of profiles in the store, or otherwise the path of a file. An existing
    /// path with a slash in it, or text that starts like a path, is always a file.
    Selector(String),
    /// A file, regardless of the contents of the store.
    File(PathBuf),
    /// Runs of one build in the store.
    Runs(Vec<ProfileId>),
    /// Runs of any number of builds in the store. Questions that only need their sum count just the selected part of
    /// each run's time, and allow several programs; others count whole runs of one program.
    Labelled(LabelledRuns),
}

impl Default for BuildRef {
    /// Returns a selector that denotes nothing.
    fn default() -> BuildRef {
        BuildRef::Selector(String::new())
    }
}

impl From<&str> for BuildRef {
    fn from(selector: &str) -> BuildRef {
        BuildRef::Selector(selector.to_owned())
    }
}

impl From<&OsStr> for BuildRef {
    /// Text that is not UTF-8 can only be a path.
    fn from(written: &OsStr) -> BuildRef {
        match written.to_str() {
            Some(text) => text.into(),
            None => BuildRef::File(written.into()),
        }
    }
}

impl From<&OsString> for BuildRef {
    fn from(written: &OsString) -> BuildRef {
        written.as_os_str().into()
    }
}

/// The name of a baseline. In JSON, plain text is a build or tag of the candidate's executable, or a selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schemas",
    schemars(rename = "Baseline", transform = also_accept_text)
)]
#[serde(rename_all = "snake_case", remote = "Self")]
#[non_exhaustive]
pub enum Baseline {
    /// Any name.
    Any(BuildRef),
    /// A build or tag of the candidate's executable, or otherwise a selector.
    OfCandidate(String),
}

/// Implements serde's traits for an enum that derives them with `remote = "Self"`: text stands for one variant.
macro_rules! text_stands_for {
    ($variant:ident of $name:ident, $expected:literal) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct TextOrObject;

                impl<'de> Visitor<'de> for TextOrObject {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_str<E>(self, text: &str) -> Result<$name, E> {
                        Ok($name::$variant(text.to_owned()))
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        $name::deserialize(MapAccessDeserializer::new(map))
                    }
                }

                deserializer.deserialize_any(TextOrObject)
            }
        }
    };
}

text_stands_for!(Selector of BuildRef, "a selector, or an object with `selector`, `file`, `runs` or `labelled`");
text_stands_for!(OfCandidate of Baseline, "a selector, or an object with `any` or `of_candidate`");

/// Adds text to the schema of an enum.
#[cfg(feature = "schemas")]
fn also_accept_text(schema: &mut schemars::Schema) {
    if let Some(serde_json::Value::Array(variants)) = schema.get_mut("oneOf") {
        variants.insert(0, serde_json::json!({ "type": "string" }));
    }
}

/// Returns distinct names for two files: their base names, with as many parent folders as necessary.
pub fn distinct_names(a: &Path, b: &Path) -> (String, String) {
    let longest = a.components().count().max(b.components().count());
    (1..=longest)
        .map(|count| (last_components(a, count), last_components(b, count)))
        .find(|(a, b)| a != b)
        .unwrap_or_else(|| (last_components(a, 1), last_components(b, 1)))
}

pub(super) fn last_components(path: &Path, count: usize) -> String {
    let components: Vec<&OsStr> = path.components().map(|c| c.as_os_str()).collect();
    let kept = &components[components.len().saturating_sub(count)..];
    kept.iter()
        .collect::<PathBuf>()
        .to_string_lossy()
        .into_owned()
}
