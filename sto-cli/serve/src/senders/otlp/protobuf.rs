//! A request in Protocol Buffers.

use super::dictionary::Dictionary;
use super::resources::{Resource, Resources, messages};
use crate::problem::Problem;
use axum::body::Bytes;
use std::path::Path;
use sto_core::formats::{DecodeError, Field, Message, MessageWriter};

/// A request, and the places of its parts.
pub(super) struct Request<'b> {
    resources: Vec<Resource>,
    /// The encoded resources.
    messages: Vec<Message<'b>>,
    /// The dictionary, which the protocol has since version 1.8.
    dictionary: Option<Dictionary<'b>>,
}

impl<'b> Request<'b> {
    pub(super) fn parse(bytes: &'b [u8]) -> Result<Request<'b>, Problem> {
        Request::read(bytes).map_err(|error| {
            let error = error.in_file(Path::new("the request"), bytes.len());
            Problem::bad_request(error.to_string())
        })
    }

    fn read(bytes: &'b [u8]) -> Result<Request<'b>, DecodeError> {
        let (mut messages, mut dictionary) = (Vec::new(), None);
        for field in Message::from_file(bytes).fields() {
            let field = field?;
            match field.number {
                1 => messages.push(field.message()?),
                2 => dictionary = Some(Dictionary::parse(field.message()?)?),
                _ => {}
            }
        }
        let strings = dictionary.as_ref();
        let resources = messages.iter().map(|&message| resource(message, strings));
        Ok(Request {
            resources: resources.collect::<Result<_, _>>()?,
            messages,
            dictionary,
        })
    }
}

impl Resources for Request<'_> {
    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn only(&self, resources: &[usize]) -> Bytes {
        let messages: Vec<Message<'_>> = resources.iter().map(|&ix| self.messages[ix]).collect();
        let mut request = MessageWriter::default();
        for message in &messages {
            request.bytes(1, message.bytes());
        }
        if let Some(dictionary) = &self.dictionary {
            request.message(2, &dictionary.used_by(&messages));
        }
        request.bytes.into()
    }
}

fn resource(
    message: Message<'_>,
    strings: Option<&Dictionary<'_>>,
) -> Result<Resource, DecodeError> {
    let (mut labels, mut profiles) = (Vec::new(), 0);
    for attributes in messages(message, 1) {
        for attribute in messages(attributes?, 1) {
            labels.extend(label(attribute?, strings)?);
        }
    }
    for scope in messages(message, 2) {
        for profile in messages(scope?, 2) {
            profile?;
            profiles += 1;
        }
    }
    Ok(Resource { labels, profiles })
}

/// Reads a `KeyValue`; `None` if the value is a list, a map or bytes.
fn label(
    message: Message<'_>,
    strings: Option<&Dictionary<'_>>,
) -> Result<Option<(String, String)>, DecodeError> {
    let text_at = |field: &Field<'_>| -> Result<String, DecodeError> {
        let ix = field.number()?;
        Ok(text(
            strings
                .and_then(|strings| strings.text(ix))
                .unwrap_or_default(),
        ))
    };
    let (mut key, mut value) = (String::new(), None);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => key = text(field.bytes()?),
            // Index 0 means none.
            3 if field.number()? == 0 => {}
            3 => key = text_at(&field)?,
            2 => {
                for field in field.message()?.fields() {
                    let field = field?;
                    value = match field.number {
                        1 => Some(text(field.bytes()?)),
                        2 => Some((field.number()? != 0).to_string()),
                        3 => Some(field.number()?.cast_signed().to_string()),
                        4 => Some(f64::from_bits(field.number()?).to_string()),
                        8 => Some(text_at(&field)?),
                        _ => None,
                    };
                }
            }
            _ => {}
        }
    }
    Ok(value.map(|value| (key, value)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
