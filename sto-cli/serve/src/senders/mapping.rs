//! From the labels of senders to program, build and labels, as [the manual](super) describes.

use crate::intake::Origin;
use axum::http::HeaderMap;
use std::collections::BTreeMap;

/// Keys of the program's name, the most exact first.
const PROGRAM: [&str; 3] = [
    "service_name",
    "process_executable_name",
    "process_executable_path",
];

/// Keys of the build's name, the most exact first.
const BUILD: [&str; 4] = [
    "version",
    "service_version",
    "service_git_ref",
    "vcs_ref_head_revision",
];

/// Keys of the revision that a build was made from.
const REVISION: [&str; 2] = ["vcs_ref_head_revision", "service_git_ref"];

/// Keys whose values differ between processes, so that each would be a series of its own.
const OF_ONE_PROCESS: [&str; 7] = [
    "process_pid",
    "process_parent_pid",
    "process_command",
    "process_command_args",
    "process_command_line",
    "process_creation_time",
    "service_instance_id",
];

/// The label with the profile's name in Pyroscope, such as `process_cpu` or `mutex`.
pub(super) const PROFILE: &str = "profile";

/// The label with the header `X-Scope-OrgID`.
const TENANT: &str = "tenant";

/// Maximum number of labels of a continuous profile.
const MAX_LABELS: usize = 32;

/// Maximum length of the key or value of a label in bytes.
const MAX_LABEL: usize = 1024;

/// The program, build and labels of a profile.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Mapped {
    pub(super) origin: Origin,
    /// Reasons why labels were left out.
    pub(super) left_out: Vec<String>,
}

/// Maps the labels of a sender. If a key occurs twice, the last one counts.
pub(super) fn map(
    labels: impl IntoIterator<Item = (String, String)>,
    headers: &HeaderMap,
) -> Mapped {
    let mut labels: BTreeMap<String, String> = labels
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let plain = |key: &str| key.replace('.', "_");
    let find = |keys: &[&str]| {
        let of = |key: &&str| labels.iter().find(|(found, _)| plain(found) == *key);
        let found = keys.iter().find_map(of);
        found.map(|(_, value)| value.clone())
    };
    let origin = Origin {
        program: find(&PROGRAM).map(|program| base_name(&program).to_owned()),
        build: find(&BUILD),
        revision: find(&REVISION),
        ..Origin::default()
    };
    if let Some(name) = labels.remove("__name__") {
        labels.insert(PROFILE.to_owned(), name);
    }
    labels.retain(|key, _| {
        let key = plain(key);
        let is_mapped = [&PROGRAM[..], &BUILD, &OF_ONE_PROCESS]
            .concat()
            .contains(&&*key);
        !is_mapped && !key.starts_with("__")
    });
    if let Some(tenant) = headers
        .get("x-scope-orgid")
        .and_then(|value| value.to_str().ok())
    {
        labels.insert(TENANT.to_owned(), tenant.to_owned());
    }
    let mut left_out = Vec::new();
    labels.retain(|key, value| {
        let fits = key.len() <= MAX_LABEL && value.len() <= MAX_LABEL;
        if !fits {
            left_out.push(format!(
                "a label of more than {MAX_LABEL} bytes was left out"
            ));
        }
        fits
    });
    while labels.len() > MAX_LABELS {
        labels.pop_last();
        left_out.push(format!(
            "labels beyond {MAX_LABELS} of a profile were left out"
        ));
    }
    left_out.dedup();
    let origin = Origin { labels, ..origin };
    Mapped { origin, left_out }
}

fn base_name(program: &str) -> &str {
    program
        .rsplit(['/', '\\'])
        .find(|name| !name.is_empty())
        .unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(labels: &[(&str, &str)]) -> Mapped {
        let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        map(labels.iter().map(owned), &HeaderMap::new())
    }

    fn described(labels: &[(&str, &str)]) -> String {
        let Origin {
            program,
            build,
            revision,
            labels,
            ..
        } = mapped(labels).origin;
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let part = |part: Option<String>| part.unwrap_or_default();
        format!(
            "{}|{}|{}|{}",
            part(program),
            part(build),
            part(revision),
            labels.join(" ")
        )
    }

    #[test]
    fn the_most_exact_label_names_program_and_build() {
        for (labels, expected) in [
            (&[][..], "|||"),
            (
                &[
                    ("service.name", "shop"),
                    ("process.executable.name", "java"),
                ],
                "shop|||",
            ),
            (&[("process.executable.path", "/opt/bin/shop/")], "shop|||"),
            (
                &[
                    ("service_name", "shop"),
                    ("service.version", "1"),
                    ("version", "2"),
                ],
                "shop|2||",
            ),
            (
                &[
                    ("vcs.ref.head.revision", "abc"),
                    ("service_git_ref", "main"),
                ],
                "|main|abc|",
            ),
            (&[("service.name", ""), ("region", "")], "|||"),
        ] {
            assert_eq!(described(labels), expected, "{labels:?}");
        }
    }

    #[test]
    fn labels_of_one_process_and_hidden_ones_are_left_out() {
        let labels = [
            ("__name__", "mutex"),
            ("__session_id__", "1"),
            ("process.pid", "1"),
            ("host.name", "a"),
            ("region", "eu"),
        ];
        assert_eq!(described(&labels), "|||host.name=a profile=mutex region=eu");
        assert_eq!(mapped(&labels).left_out, Vec::<String>::new());
    }

    #[test]
    fn labels_beyond_the_limits_are_left_out_and_named() {
        let long = "x".repeat(MAX_LABEL + 1);
        let found = mapped(&[("a", &long), (&long, "b"), ("c", "d")]);
        assert_eq!(found.origin.labels.len(), 1);
        assert_eq!(
            found.left_out,
            ["a label of more than 1024 bytes was left out"]
        );
        let many: Vec<String> = (0..100).map(|ix| format!("label{ix}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|key| (&**key, "x")).collect();
        let found = mapped(&many);
        assert_eq!(found.origin.labels.len(), MAX_LABELS);
        assert_eq!(
            found.left_out,
            ["labels beyond 32 of a profile were left out"]
        );
    }

    #[test]
    fn the_tenant_is_a_label() {
        let headers = HeaderMap::from_iter([(
            "x-scope-orgid".parse().expect("a name"),
            "team".parse().expect("a value"),
        )]);
        let found = map([("service_name".to_owned(), "shop".to_owned())], &headers);
        assert_eq!(
            found.origin.labels,
            BTreeMap::from([("tenant".to_owned(), "team".to_owned())])
        );
    }
}
