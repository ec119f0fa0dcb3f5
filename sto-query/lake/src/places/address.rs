//! Places as they are written.

use super::PlaceError;
use super::error::Refusal;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use sto_model::printable;

/// Where a place is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Folder(PathBuf),
    Ssh(Remote),
    Bucket(Bucket),
}

/// A folder of another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    /// `HOST` or `USER@HOST`, with brackets around numbers of IPv6.
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// Absolute, or relative to the user's own folder.
    pub(super) path: String,
}

/// Part of an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) service: Service,
    pub(super) name: String,
    /// Without `/` at its ends; may be empty.
    pub(super) prefix: String,
}

/// Whose object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    S3,
    Google,
    Azure,
}

impl Address {
    /// Takes what has `://` after a word for a URL, and all else for a path.
    pub(super) fn parse(text: &OsStr) -> Result<Address, PlaceError> {
        let is_word = |scheme: &str| {
            !scheme.is_empty()
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let url = text.to_str().and_then(|text| text.split_once("://"));
        let Some((scheme, rest)) = url.filter(|(scheme, _)| is_word(scheme)) else {
            return match text.is_empty() {
                true => Err(no_place("", "a place has a name")),
                false => Ok(Address::Folder(text.into())),
            };
        };
        let shown = format!("{scheme}://{rest}");
        let service = match scheme {
            "ssh" => {
                return Remote::parse(rest)
                    .map(Address::Ssh)
                    .map_err(|why| no_place(&shown, why));
            }
            "s3" => Service::S3,
            "gs" => Service::Google,
            "az" => Service::Azure,
            _ => {
                return Err(PlaceError::OtherScheme {
                    text: printable(&shown).into_owned(),
                    scheme: printable(scheme).into_owned(),
                });
            }
        };
        let bucket = Bucket::parse(service, rest);
        bucket
            .map(Address::Bucket)
            .map_err(|why| no_place(&shown, why))
    }
}

fn no_place(text: &str, why: &str) -> PlaceError {
    PlaceError::NoPlace {
        text: printable(text).into_owned(),
        why: why.to_owned(),
    }
}

impl Remote {
    fn parse(text: &str) -> Result<Remote, &'static str> {
        let (host, path) = text.split_once('/').ok_or(NO_PATH)?;
        let (user, host) = match host.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, host),
        };
        let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((host, rest)) => (format!("[{host}]"), rest.strip_prefix(':')),
            None => match host.split_once(':') {
                Some((host, port)) => (host.to_owned(), Some(port)),
                None => (host.to_owned(), None),
            },
        };
        let port = port.map(|port| port.parse().map_err(|_| "a port is a number up to 65535"));
        // They become words of a command line, and of others that the user's configuration makes of them.
        let is_plain = |name: &str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:[]+".contains(&byte);
            !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_plain)
        };
        if !is_plain(&host) || user.is_some_and(|user| !is_plain(user)) {
            return Err("no machine or user has such a name");
        }
        if path.contains(char::is_control) {
            return Err("a path has no control characters");
        }
        let path = match path.strip_prefix("~/") {
            Some(path) => path.to_owned(),
            None => format!("/{path}"),
        };
        let path = path.trim_end_matches('/').to_owned();
        if path.is_empty() {
            return Err(NO_PATH);
        }
        Ok(Remote {
            host: match user {
                Some(user) => format!("{user}@{host}"),
                None => host,
            },
            port: port.transpose()?,
            path,
        })
    }
}

const NO_PATH: &str = "a folder of another machine is written as ssh://HOST/PATH, or ssh://HOST/~/PATH below one's own";

impl Bucket {
    fn parse(service: Service, text: &str) -> Result<Bucket, &'static str> {
        let (name, prefix) = text.split_once('/').unwrap_or((text, ""));
        let prefix = prefix.trim_matches('/').to_owned();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-$".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err("no bucket has such a name");
        }
        if !prefix.is_empty() && checked(&prefix, false).is_err() {
            return Err("no folder of a bucket has such a name");
        }
        let name = name.to_owned();
        Ok(Bucket {
            service,
            name,
            prefix,
        })
    }
}

impl Service {
    pub(super) fn scheme(self) -> &'static str {
        match self {
            Service::S3 => "s3",
            Service::Google => "gs",
            Service::Azure => "az",
        }
    }
}

/// As it may be written, without what a terminal would obey.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Address::Folder(path) => path.display().to_string(),
            Address::Ssh(Remote { host, port, path }) => {
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                let home = if path.starts_with('/') { "" } else { "/~/" };
                format!("ssh://{host}{port}{home}{path}")
            }
            Address::Bucket(Bucket {
                service,
                name,
                prefix,
            }) => {
                let slash = if prefix.is_empty() { "" } else { "/" };
                format!("{}://{name}{slash}{prefix}", service.scheme())
            }
        };
        f.write_str(&printable(&text))
    }
}

/// Checks that a name leads nowhere but below its place.
pub(super) fn checked(name: &str, may_be_empty: bool) -> Result<(), Refusal> {
    let is_good = |part: &str| !["", ".", ".."].contains(&part) && !part.contains(char::is_control);
    match (may_be_empty && name.is_empty()) || name.split('/').all(is_good) {
        true => Ok(()),
        false => Err(Refusal::other("no file may be called so")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match Address::parse(OsStr::new(text)) {
            Ok(address) => address.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn places_are_shown_as_they_may_be_written_again() {
        for text in [
            "shared",
            "/srv/profiles",
            "a://b/../c:d@e".strip_prefix("a:").unwrap_or_default(),
            "ssh://host/srv/profiles",
            "ssh://me@host:2222/srv/a b",
            "ssh://host/~/profiles",
            "ssh://[::1]:22/srv",
            "s3://bucket",
            "gs://bucket/a/b",
            "az://container/a",
        ] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("s3://bucket//a/"), "s3://bucket/a");
    }

    #[test]
    fn what_is_no_place_is_refused_with_a_reason() {
        for (text, part) in [
            ("", "a place has a name"),
            (
                "http://host/a",
                "`http` is no kind of place; there are folders, and ssh://",
            ),
            (
                "ssh://-oProxyCommand=x/a",
                "no machine or user has such a name",
            ),
            ("ssh://-l@host/a", "no machine or user has such a name"),
            ("ssh://a b/c", "no machine or user has such a name"),
            ("ssh://host", "ssh://HOST/PATH"),
            ("ssh://host/", "ssh://HOST/PATH"),
            ("ssh://host:99999/a", "a port is a number"),
            ("ssh://host/a\nrm b", "control characters"),
            ("s3:///a", "no bucket has such a name"),
            ("s3://b/a/../c", "no folder of a bucket has such a name"),
        ] {
            let shown = shown(text);
            assert!(shown.contains(part), "{text}: {shown}");
            assert!(!shown.contains('\n'), "{shown}");
        }
    }
}
