//! Accepts the profiles of a request.

use super::resources::Resources;
use super::{json, protobuf};
use crate::intake::{Origin, Received};
use crate::problem::Problem;
use crate::senders::mapping::map;
use crate::shared::Shared;
use crate::wire::Codec;
use axum::body::Bytes;
use axum::http::HeaderMap;
use std::collections::BTreeMap;
use sto_core::Format;
use sto_core::formats::MessageWriter;

/// The header with the version of the messages, and the only version so far, which is also meant without the header.
const VERSION: (&str, &str) = ("otlp-profiles-development-version", "1");

/// The kind of these senders in the status.
pub(super) const SENDER: &str = "otlp";

/// How many profiles of a request were accepted.
#[derive(Default)]
pub(super) struct Accepted {
    /// Number of profiles that were refused.
    refused: u64,
    /// Why the first of them was.
    reason: String,
}

impl Accepted {
    /// Encodes an `ExportProfilesServiceResponse`.
    pub(super) fn encode(&self, codec: Codec) -> Vec<u8> {
        let mut partial = MessageWriter::default();
        partial.number(1, self.refused);
        partial.bytes(2, self.reason.as_bytes());
        let mut response = MessageWriter::default();
        response.message(1, &partial);
        match codec {
            Codec::Protobuf if self.refused == 0 => Vec::new(),
            Codec::Json if self.refused == 0 => b"{}".to_vec(),
            Codec::Protobuf => response.bytes,
            // In JSON, an integer of 64 bits is a text.
            Codec::Json => serde_json::json!({ "partialSuccess": {
                "rejectedProfiles": self.refused.to_string(),
                "errorMessage": self.reason,
            } })
            .to_string()
            .into_bytes(),
        }
    }
}

/// The profiles of one origin.
struct Group {
    received: Received,
    sender: String,
    profiles: u64,
}

/// Accepts the profiles of a request. If some cannot be read, the others are accepted.
pub(super) async fn export(
    shared: &Shared,
    codec: Codec,
    headers: &HeaderMap,
    message: &Bytes,
) -> Result<Accepted, Problem> {
    let groups = check_version(headers).and_then(|()| groups(shared, codec, headers, message));
    let groups = groups.inspect_err(|problem| shared.monitor.refused(SENDER, problem))?;
    let all = groups.iter().map(|group| group.received.clone());
    if shared.intake.accept(all.collect()).await.is_ok() {
        groups
            .iter()
            .for_each(|group| group.report_accepted(shared));
        return Ok(Accepted::default());
    }
    let mut accepted = Accepted::default();
    let mut refused = None;
    for group in &groups {
        match shared.intake.accept(vec![group.received.clone()]).await {
            Ok(()) => group.report_accepted(shared),
            Err(problem) => {
                shared.monitor.refused(&group.sender, &problem);
                // The sender has to repeat the request.
                if problem.status == 429 || problem.status >= 500 {
                    return Err(problem);
                }
                accepted.refused += group.profiles;
                refused.get_or_insert(problem);
            }
        }
    }
    let sent: u64 = groups.iter().map(|group| group.profiles).sum();
    match refused {
        Some(problem) if accepted.refused == sent => Err(problem),
        refused => Ok(Accepted {
            reason: refused.map(|problem| problem.detail).unwrap_or_default(),
            ..accepted
        }),
    }
}

impl Group {
    fn report_accepted(&self, shared: &Shared) {
        let bytes = self.received.body.len() as u64;
        shared.monitor.accepted(&self.sender, self.profiles, bytes);
    }
}

fn check_version(headers: &HeaderMap) -> Result<(), Problem> {
    let (header, known) = VERSION;
    let found: Vec<&[u8]> = headers
        .get_all(header)
        .iter()
        .map(|value| value.as_bytes())
        .collect();
    if found.iter().all(|&version| version == known.as_bytes()) && found.len() < 2 {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found.join(&b", "[..])).into_owned();
    Err(Problem::bad_request(format!(
        "{header}: {found}; this server reads version {known}, of OTLP 1.9 to 1.11: use a newer sto, or an older sender"
    )))
}

/// Groups the profiles of a request by origin.
fn groups(
    shared: &Shared,
    codec: Codec,
    headers: &HeaderMap,
    message: &Bytes,
) -> Result<Vec<Group>, Problem> {
    let request: Box<dyn Resources> = match codec {
        Codec::Protobuf => Box::new(protobuf::Request::parse(message)?),
        Codec::Json => Box::new(json::Request::parse(message)?),
    };
    let mut by_origin: BTreeMap<_, (Origin, Vec<usize>)> = BTreeMap::new();
    for (ix, resource) in request.resources().iter().enumerate() {
        let mapped = map(resource.labels.iter().cloned(), headers);
        let sender = sender(&mapped.origin);
        for reason in &mapped.left_out {
            shared.monitor.left_out(&sender, reason);
        }
        let Origin {
            program,
            build,
            labels,
            ..
        } = &mapped.origin;
        let key = (program.clone(), build.clone(), labels.clone());
        let (_, resources) = by_origin.entry(key).or_insert((mapped.origin, Vec::new()));
        resources.push(ix);
    }
    let limit = shared.options.limits.decoded().0;
    let mut size = 0;
    let mut groups = Vec::new();
    for (origin, resources) in by_origin.into_values() {
        let body = request.only(&resources);
        size += body.len() as u64;
        if size > limit {
            return Err(Problem::new(
                axum::http::StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "the programs of the request, each with its dictionary, have more than {limit} bytes; send fewer at once"
                ),
            ));
        }
        let profiles = resources.iter().map(|&ix| request.resources()[ix].profiles);
        groups.push(Group {
            sender: sender(&origin),
            profiles: profiles.sum(),
            received: Received {
                origin,
                body,
                format: Some(Format::Otlp),
                ..Received::default()
            },
        });
    }
    groups.retain(|group| group.profiles > 0);
    Ok(groups)
}

fn sender(origin: &Origin) -> String {
    match &origin.program {
        Some(program) => format!("{SENDER}: {program}"),
        None => SENDER.to_owned(),
    }
}
