//! The messages of an export that are read. Mappings, locations and functions are converted to
//! pprof's: index 0 here, which means none, becomes id 0.

use super::attributes::{Attribute, SampleOwner, Value};
use crate::error::{DecodeError, Decoded};
use crate::pprof::schema::{self as pprof, Function, Location, Mapping, Text, ValueType};
use crate::wire::protobuf::{FromField, Message, fields};

/// An export: `ProfilesData`, or `ExportProfilesServiceRequest`, which has the same fields.
pub(super) struct Data<'b> {
    pub(super) dictionary: Dictionary<'b>,
    pub(super) profiles: Vec<Profile<'b>>,
}

/// The tables that profiles refer to by index.
#[derive(Default)]
pub(super) struct Dictionary<'b> {
    /// Strings, mappings, locations and functions, but no samples.
    pub(super) tables: pprof::Profile<'b>,
    pub(super) attributes: Vec<Attribute<'b>>,
    pub(super) stacks: Vec<Message<'b>>,
}

/// A profile: samples of one type.
#[derive(Default)]
pub(super) struct Profile<'b> {
    pub(super) sample_type: ValueType,
    /// The encoded profile, from which samples are read.
    message: Option<Message<'b>>,
    /// Nanoseconds since 1970.
    pub(super) time: u64,
    /// Duration in nanoseconds.
    pub(super) duration: u64,
    pub(super) period_type: ValueType,
    pub(super) period: u64,
    /// The process and thread, from attributes of the resource and the profile.
    pub(super) owner: SampleOwner<'b>,
    /// Whether the scope has a profile before this one.
    pub(super) follows: bool,
}

/// The message for a field that only older, unsupported versions have.
pub(super) fn too_old(found: &str) -> String {
    format!(
        "{found}, as before version 1.8 of the protocol; versions 1.9 to 1.11 are read. Record again with a newer SDK, profiler or collector"
    )
}

impl<'b> Data<'b> {
    pub(super) fn parse(mut message: Message<'b>) -> Decoded<Data<'b>> {
        let (mut resources, mut dictionary) = (Vec::new(), None);
        while let Some(field) = message.next()? {
            match field.number {
                1 => resources.push(field.message()?),
                2 if dictionary.is_some() => {
                    return Err(DecodeError::new(
                        field.at,
                        "a second dictionary; expected one: was one file appended to another?",
                    ));
                }
                2 => dictionary = Some(field.message()?),
                _ => {}
            }
        }
        let Some(dictionary) = dictionary else {
            let problem = too_old("no dictionary");
            return Err(DecodeError::new(message.at(), problem));
        };
        let dictionary = Dictionary::parse(dictionary)?;
        let mut profiles = Vec::new();
        for resource in resources {
            dictionary.resource_profiles(resource, &mut profiles)?;
        }
        Ok(Data {
            dictionary,
            profiles,
        })
    }
}

impl<'b> Dictionary<'b> {
    fn parse(message: Message<'b>) -> Decoded<Dictionary<'b>> {
        let mut dictionary = Dictionary::default();
        let (mut mappings, mut locations) = (Vec::new(), Vec::new());
        let (mut functions, mut attributes) = (Vec::new(), Vec::new());
        fields!(message, {
            1 => mappings,
            2 => locations,
            3 => functions,
            5 => dictionary.tables.strings,
            6 => attributes,
            7 => dictionary.stacks,
        });
        if dictionary.tables.strings.is_empty() {
            return Err(DecodeError::new(
                message.at(),
                "a dictionary without strings; expected an empty one first",
            ));
        }
        for message in attributes {
            let attribute = dictionary.attribute(message, Key::Index)?;
            dictionary.attributes.push(attribute);
        }
        for (ix, message) in numbered(mappings) {
            let mapping = dictionary.mapping(message)?;
            let mappings = &mut dictionary.tables.mappings;
            mappings.insert(ix, mapping, message.at())?;
        }
        for (ix, message) in numbered(locations) {
            let location = dictionary.location(message)?;
            let locations = &mut dictionary.tables.locations;
            locations.insert(ix, location, message.at())?;
        }
        for (ix, message) in numbered(functions) {
            let function = function(message)?;
            let functions = &mut dictionary.tables.functions;
            functions.insert(ix, function, message.at())?;
        }
        Ok(dictionary)
    }

    fn string(&self, ix: u64, at: usize) -> Decoded<&'b [u8]> {
        self.tables.text(Text { ix, at })
    }

    /// Reads an attribute of the dictionary or of a resource.
    fn attribute(&self, mut message: Message<'b>, keys: Key) -> Decoded<Attribute<'b>> {
        let (mut key, mut value, mut unit) = (&b""[..], Value::Other, &b""[..]);
        while let Some(field) = message.next()? {
            match (field.number, keys) {
                (1, Key::Text) => key = field.bytes()?,
                (1, Key::Index) if field.message().is_ok() => {
                    let problem = too_old("an attribute with a text as key");
                    return Err(DecodeError::new(field.at, problem));
                }
                (1, Key::Index) => key = self.string(field.number()?, field.at)?,
                (3, Key::Index) => unit = self.string(field.number()?, field.at)?,
                // JSON may have an explicit null index.
                (3, Key::Text) if field.number()? == 0 => {}
                (3, Key::Text) => key = self.string(field.number()?, field.at)?,
                (2, _) => {
                    let strings = |ix, at| self.string(ix, at);
                    value = Value::parse(field.message()?, strings)?;
                }
                _ => {}
            }
        }
        Ok(Attribute::new(key, value.with_unit(unit)))
    }

    pub(super) fn attributes(&self, indices: &[u64], at: usize) -> Decoded<Vec<Attribute<'b>>> {
        let attributes = indices.iter().map(|&index| {
            let found = usize::try_from(index).ok();
            let found = found.and_then(|index| self.attributes.get(index));
            found
                .copied()
                .ok_or_else(|| DecodeError::undefined_id(at, "the attribute", index))
        });
        attributes.collect()
    }

    fn mapping(&mut self, message: Message<'b>) -> Decoded<Mapping> {
        let at = message.at();
        let (mut mapping, mut attributes) = (Mapping::default(), Vec::new());
        fields!(message, {
            1 => mapping.start, 3 => mapping.offset, 4 => mapping.file, 5 => attributes,
        });
        for attribute in self.attributes(&attributes, at)? {
            if let Attribute::GnuBuildId(digits) = attribute {
                let ix = self.tables.strings.len() as u64;
                self.tables.strings.push(digits);
                mapping.build_id = Text { ix, at };
            }
        }
        Ok(mapping)
    }

    fn location(&self, message: Message<'b>) -> Decoded<Location<'b>> {
        let mut location = Location {
            at: message.at(),
            ..Location::default()
        };
        let mut attributes = Vec::new();
        fields!(message, {
            1 => location.mapping, 2 => location.address, 3 => location.lines, 4 => attributes,
        });
        let attributes = self.attributes(&attributes, location.at)?;
        location.kind = attributes.iter().find_map(|attribute| match attribute {
            Attribute::FrameKind(kind) => Some(*kind),
            _ => None,
        });
        Ok(location)
    }

    fn resource_profiles(
        &self,
        mut message: Message<'b>,
        profiles: &mut Vec<Profile<'b>>,
    ) -> Decoded<()> {
        let (mut owner, mut scopes) = (SampleOwner::default(), Vec::new());
        while let Some(field) = message.next()? {
            match field.number {
                1 => {
                    let mut attributes = field.message()?;
                    while let Some(field) = attributes.next()? {
                        if field.number == 1 {
                            owner.set(self.attribute(field.message()?, Key::Text)?);
                        }
                    }
                }
                2 => scopes.push(field.message()?),
                _ => {}
            }
        }
        for mut scope in scopes {
            let mut follows = false;
            while let Some(field) = scope.next()? {
                if field.number == 2 {
                    let profile = self.profile(field.message()?, owner)?;
                    profiles.push(Profile { follows, ..profile });
                    follows = true;
                }
            }
        }
        Ok(())
    }

    fn profile(&self, mut message: Message<'b>, owner: SampleOwner<'b>) -> Decoded<Profile<'b>> {
        let at = message.at();
        let mut profile = Profile {
            message: Some(message),
            owner,
            ..Profile::default()
        };
        let mut attributes = Vec::new();
        while let Some(field) = message.next()? {
            match field.number {
                1 => profile.sample_type.take(&field)?,
                2 => _ = field.message()?,
                3 if field.message().is_ok() => {
                    let problem = too_old("a profile with a list instead of its time");
                    return Err(DecodeError::new(field.at, problem));
                }
                3 => profile.time = field.number()?,
                4 => profile.duration = field.number()?,
                5 => profile.period_type.take(&field)?,
                6 => profile.period = field.number()?,
                11 => field.numbers_into(&mut attributes)?,
                _ => {}
            }
        }
        for attribute in self.attributes(&attributes, at)? {
            profile.owner.set(attribute);
        }
        Ok(profile)
    }
}

impl<'b> Profile<'b> {
    pub(super) fn samples(&self) -> impl Iterator<Item = Message<'b>> + use<'b> {
        let mut left = self.message;
        // The message was fully parsed before, so this cannot fail.
        let fields = std::iter::from_fn(move || left.as_mut()?.next().ok()?);
        let samples = fields.filter(|field| field.number == 2);
        samples.filter_map(|sample| sample.message().ok())
    }
}

/// How an attribute's key is encoded.
#[derive(Clone, Copy)]
enum Key {
    /// As an index into the strings.
    Index,
    Text,
}

/// The rows of a table with their indices, without row 0, which means none.
fn numbered(rows: Vec<Message<'_>>) -> impl Iterator<Item = (u64, Message<'_>)> {
    (0..).zip(rows).skip(1)
}

fn function(message: Message<'_>) -> Decoded<Function> {
    let mut function = Function::default();
    fields!(message, { 1 => function.name, 2 => function.system_name, 3 => function.file });
    Ok(function)
}
