//! Parsing of addresses of places.

use super::PlaceError;
use super::error::Refusal;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use sto_model::printable;

/// Address of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Folder(PathBuf),
    Ssh(Remote),
    Bucket(Bucket),
    /// A server of sto: the URL without `/` at its end.
    Server(String),
}

/// A folder on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    /// `HOST` or `USER@HOST`, with IPv6 addresses in brackets.
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// Absolute path, or relative to the user's home folder.
    pub(super) path: String,
}

/// A bucket of an object store, or a folder in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) service: Service,
    pub(super) name: String,
    /// Without `/` at its ends; may be empty.
    pub(super) prefix: String,
}

/// Provider of an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    S3,
    Google,
    Azure,
}

impl Address {
    /// Parses a URL if the text contains `://` after a word, and otherwise a path.
    pub(super) fn parse(text: &OsStr) -> Result<Address, PlaceError> {
        let is_word = |scheme: &str| {
            !scheme.is_empty()
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let url = text.to_str().and_then(|text| text.split_once("://"));
        let Some((scheme, rest)) = url.filter(|(scheme, _)| is_word(scheme)) else {
            return match text.to_str() {
                Some("") => Err(no_place("", "a place must not be empty")),
                Some(text) if lacks_scheme(text) => Err(no_place(
                    text,
                    &format!(
                        "expected http://{0} or https://{0} for a server, or ./{0} for a folder",
                        printable(text)
                    ),
                )),
                _ => Ok(Address::Folder(text.into())),
            };
        };
        let shown = format!("{scheme}://{rest}");
        let service = match scheme {
            "ssh" => {
                return Remote::parse(rest)
                    .map(Address::Ssh)
                    .map_err(|why| no_place(&shown, why));
            }
            "http" | "https" => {
                return server(scheme, rest)
                    .map(Address::Server)
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

/// Whether a text is most likely the address of a server without its scheme, such as `localhost:4940`.
fn lacks_scheme(text: &str) -> bool {
    let before_path = text.split('/').next().unwrap_or_default();
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    before_path.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && host.bytes().all(is_host) && port.parse::<u16>().is_ok()
    })
}

fn server(scheme: &str, text: &str) -> Result<String, &'static str> {
    if text.contains('@') {
        return Err("a token is given by STO_TOKEN or STO_TOKEN_FILE, and not in the address");
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:[]/~%".contains(&byte);
    let text = text.trim_end_matches('/');
    if text.is_empty() || text.starts_with('/') || !text.bytes().all(is_plain) {
        return Err("a server is written as https://HOST[:PORT][/PATH]");
    }
    Ok(format!("{scheme}://{text}"))
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
        // These become words of a command line, and of commands in the user's SSH configuration.
        let is_plain = |name: &str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:[]+".contains(&byte);
            !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_plain)
        };
        if !is_plain(&host) || user.is_some_and(|user| !is_plain(user)) {
            return Err("invalid name of a machine or user");
        }
        if path.contains(char::is_control) {
            return Err("a path must not contain control characters");
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
            return Err("invalid name of a bucket");
        }
        if !prefix.is_empty() && check_name(&prefix, false).is_err() {
            return Err("invalid name of a folder in a bucket");
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

/// Formats the address in the syntax of [`Address::parse`], with control characters escaped.
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
            Address::Server(url) => url.clone(),
        };
        f.write_str(&printable(&text))
    }
}

/// Checks that a name cannot leave its place.
pub(super) fn check_name(name: &str, may_be_empty: bool) -> Result<(), Refusal> {
    let is_good = |part: &str| !["", ".", ".."].contains(&part) && !part.contains(char::is_control);
    if (may_be_empty && name.is_empty()) || name.split('/').all(is_good) {
        Ok(())
    } else {
        Err(Refusal::other("invalid file name"))
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
    fn displayed_addresses_can_be_parsed() {
        for text in [
            "shared",
            "./localhost:4940",
            "a:b",
            "/srv/profiles",
            "a://b/../c:d@e".strip_prefix("a:").unwrap_or_default(),
            "ssh://host/srv/profiles",
            "ssh://me@host:2222/srv/a b",
            "ssh://host/~/profiles",
            "ssh://[::1]:22/srv",
            "s3://bucket",
            "gs://bucket/a/b",
            "az://container/a",
            "http://[::1]:4940",
            "https://host/sto",
        ] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("s3://bucket//a/"), "s3://bucket/a");
    }

    #[test]
    fn rejects_invalid_addresses_with_a_reason() {
        for (text, part) in [
            ("", "a place must not be empty"),
            (
                "ftp://host/a",
                "`ftp` is not a kind of place; expected a folder, ssh://",
            ),
            (
                "localhost:4940",
                "expected http://localhost:4940 or https://localhost:4940 for a server, or ./localhost:4940",
            ),
            ("[::1]:4940/sto", "expected http://[::1]:4940/sto or"),
            ("http://", "https://HOST"),
            ("https://host/?token=x", "https://HOST"),
            ("https://token@host/", "STO_TOKEN"),
            (
                "ssh://-oProxyCommand=x/a",
                "invalid name of a machine or user",
            ),
            ("ssh://-l@host/a", "invalid name of a machine or user"),
            ("ssh://a b/c", "invalid name of a machine or user"),
            ("ssh://host", "ssh://HOST/PATH"),
            ("ssh://host/", "ssh://HOST/PATH"),
            ("ssh://host:99999/a", "a port is a number"),
            ("ssh://host/a\nrm b", "control characters"),
            ("s3:///a", "invalid name of a bucket"),
            ("s3://b/a/../c", "invalid name of a folder in a bucket"),
        ] {
            let shown = shown(text);
            assert!(shown.contains(part), "{text}: {shown}");
            assert!(!shown.contains('\n'), "{shown}");
        }
    }
}
