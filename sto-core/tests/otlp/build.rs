//! A builder of exports.

use prost::Message;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::recording::Recording;
use sto_test_support::otlp::{
    AnyValue, Attribute, Dictionary, Function, KeyValue, Line, Location, Mapping, Profile,
    ProfilesData, Resource, ResourceProfiles, Sample, ScopeProfiles, Stack, Value, ValueType,
};

/// An export of one resource; samples are added to its last profile.
#[derive(Clone, Debug)]
pub(crate) struct Builder {
    pub(crate) dictionary: Dictionary,
    pub(crate) resource: Resource,
    pub(crate) profiles: Vec<Profile>,
}

impl Builder {
    /// One profile of this sample type, with an empty dictionary.
    pub(crate) fn new(name: &str, unit: &str) -> Builder {
        let mut builder = Builder {
            dictionary: Dictionary {
                mapping_table: vec![Mapping::default()],
                location_table: vec![Location::default()],
                function_table: vec![Function::default()],
                string_table: vec![String::new()],
                attribute_table: vec![Attribute::default()],
                stack_table: vec![Stack::default()],
            },
            resource: Resource::default(),
            profiles: Vec::new(),
        };
        builder.profile(name, unit);
        builder
    }

    pub(crate) fn profile(&mut self, name: &str, unit: &str) -> &mut Profile {
        let sample_type = ValueType {
            type_strindex: self.string(name),
            unit_strindex: self.string(unit),
        };
        self.profiles.push(Profile {
            sample_type: Some(sample_type),
            ..Profile::default()
        });
        self.profiles.last_mut().unwrap()
    }

    pub(crate) fn string(&mut self, text: &str) -> i32 {
        let table = &mut self.dictionary.string_table;
        let known = table.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            table.push(text.to_owned());
            table.len() - 1
        }) as i32
    }

    pub(crate) fn attribute(&mut self, key: &str, value: Value) -> i32 {
        let key_strindex = self.string(key);
        self.dictionary.attribute_table.push(Attribute {
            key_strindex,
            value: Some(AnyValue { value: Some(value) }),
            unit_strindex: 0,
        });
        self.dictionary.attribute_table.len() as i32 - 1
    }

    pub(crate) fn of_resource(&mut self, key: &str, value: Value) {
        self.resource.attributes.push(KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue { value: Some(value) }),
            key_strindex: 0,
        });
    }

    /// A location of functions, the innermost first.
    pub(crate) fn location(&mut self, names: &[&str], attribute_indices: &[i32]) -> i32 {
        let mut lines = Vec::new();
        for name in names {
            let name_strindex = self.string(name);
            self.dictionary.function_table.push(Function {
                name_strindex,
                ..Function::default()
            });
            lines.push(Line {
                function_index: self.dictionary.function_table.len() as i32 - 1,
                line: 0,
            });
        }
        self.dictionary.location_table.push(Location {
            lines,
            attribute_indices: attribute_indices.to_vec(),
            ..Location::default()
        });
        self.dictionary.location_table.len() as i32 - 1
    }

    /// A stack of plain functions, as `root;caller;leaf`.
    pub(crate) fn stack(&mut self, folded: &str) -> i32 {
        let location_indices = folded.split(';').rev();
        let location_indices = location_indices
            .map(|name| self.location(&[name], &[]))
            .collect();
        self.dictionary.stack_table.push(Stack { location_indices });
        self.dictionary.stack_table.len() as i32 - 1
    }

    /// Adds a sample to the last profile.
    pub(crate) fn sample(&mut self, stack_index: i32, values: &[i64]) -> &mut Sample {
        let profile = self.profiles.last_mut().unwrap();
        profile.samples.push(Sample {
            stack_index,
            values: values.to_vec(),
            ..Sample::default()
        });
        profile.samples.last_mut().unwrap()
    }

    pub(crate) fn data(&self) -> ProfilesData {
        ProfilesData {
            resource_profiles: vec![ResourceProfiles {
                resource: Some(self.resource.clone()),
                scope_profiles: vec![ScopeProfiles {
                    profiles: self.profiles.clone(),
                }],
            }],
            dictionary: Some(self.dictionary.clone()),
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(&self.data()).unwrap()
    }

    #[track_caller]
    pub(crate) fn read(&self) -> Recording {
        read(&self.data().encode_to_vec()).unwrap()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> String {
        read(&self.data().encode_to_vec()).unwrap_err()
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Recording, String> {
    let read = read_bytes(Path::new("a/file"), bytes, &Default::default());
    read.map_err(|error| error.to_string())
}

/// A field that is a message.
pub(crate) fn part(number: u8, message: &[u8]) -> Vec<u8> {
    let mut part = vec![number << 3 | 2];
    prost::encoding::encode_varint(message.len() as u64, &mut part);
    part.extend(message);
    part
}

/// An export of a profile that was encoded by hand.
pub(crate) fn with_profile(builder: &Builder, profile: &[u8]) -> Vec<u8> {
    let resource = part(2, &part(2, profile));
    let dictionary = builder.dictionary.encode_to_vec();
    [part(1, &resource), part(2, &dictionary)].concat()
}
