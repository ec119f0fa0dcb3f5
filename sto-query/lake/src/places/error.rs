//! Errors of accessing a place.

use std::fmt;
use std::io;
use sto_model::limits::truncate_text;
use sto_model::printable;

/// Maximum length in bytes of a message of the other end.
const LONGEST: usize = 1000;

/// Error of accessing a place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The address is invalid.
    #[error("{text}: {why}")]
    NoPlace {
        /// The address, as given.
        text: String,
        /// Reason why it is invalid.
        why: String,
    },
    /// The URL scheme is not supported.
    #[error(
        "{text}: `{scheme}` is not a kind of place; expected a folder, ssh://, s3://, gs://, az://, http:// or https://"
    )]
    OtherScheme {
        /// The address, as given.
        text: String,
        /// The scheme before `://`.
        scheme: String,
    },
    /// This program was built without support for the place.
    #[error("{place}: this program was built without support for object stores and servers")]
    LeftOut {
        /// The place.
        place: String,
    },
    /// The place cannot be accessed, or refuses an operation.
    #[error("{place}: cannot {tried}: {why}{}", in_brackets(said))]
    Refused {
        /// The place.
        place: String,
        /// Attempted operation, such as `write profiles/...`.
        tried: String,
        /// Reason; [`FailureReason::Other`] if it is unknown.
        why: FailureReason,
        /// Message of the other end or the operating system.
        said: String,
    },
}

/// Reason why an operation on a place failed, which determines the advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureReason {
    /// The credentials are missing or were rejected.
    Credentials(Advice),
    /// The user lacks permission.
    NoPermission,
    /// A server of sto takes the token, or needs none, but refuses the request; its message explains why.
    Forbidden,
    /// The bucket does not exist.
    NoBucket,
    /// The host name is unknown.
    NoHost,
    /// The machine does not respond.
    NoAnswer,
    /// The host key is unknown or has changed.
    HostKey,
    /// The program `sftp` is not installed.
    NoSftp,
    /// The disk is full.
    Full,
    /// The file exceeds the maximum size.
    TooLong,
    /// The place has more files than a listing may have.
    TooMany,
    /// A link, a folder or a pipe has the file's name.
    NotAFile,
    /// A server keeps another profile of the same recording and build.
    Conflict,
    /// Another reason; the message explains it.
    Other,
}

/// Kind of credentials that a place needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// SSH keys.
    Ssh,
    /// S3 credentials.
    S3,
    /// Google Cloud Storage credentials.
    Google,
    /// Azure credentials.
    Azure,
    /// A token of a server of sto.
    Token,
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailureReason::Credentials(Advice::Ssh) => {
                "it does not let this user in; check that `ssh` connects without asking for a password"
            }
            FailureReason::Credentials(Advice::S3) => {
                "it does not accept the credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to those of an account with access"
            }
            FailureReason::Credentials(Advice::Google) => {
                "it does not accept the credentials; set GOOGLE_SERVICE_ACCOUNT to the file of an account with access"
            }
            FailureReason::Credentials(Advice::Azure) => {
                "it does not accept the credentials; set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY to those of an account with access"
            }
            FailureReason::Credentials(Advice::Token) => {
                "it does not accept the token; set STO_TOKEN, or STO_TOKEN_FILE to the file with it"
            }
            FailureReason::NoPermission => "permission denied; change the permissions, or name another place",
            FailureReason::Forbidden => "the server refuses it",
            FailureReason::NoBucket => "there is no such bucket; create it, or name another one",
            FailureReason::NoHost => "unknown host name; check the spelling",
            FailureReason::NoAnswer => "the machine does not respond; check that it is running, and try again",
            FailureReason::HostKey => {
                "the host key is not trusted yet; connect once with `ssh`, and check the key"
            }
            FailureReason::NoSftp => "the program `sftp` is not installed; install OpenSSH's client",
            FailureReason::Full => "the disk is full; free some space, and try again",
            FailureReason::TooLong => "the file is too large",
            FailureReason::TooMany => "there are more than 131,072 files and folders; name another place",
            FailureReason::NotAFile => "a link, folder or pipe has this name; remove it, and try again",
            FailureReason::Conflict => "it keeps another profile of the same recording and build",
            FailureReason::Other => "it failed",
        })
    }
}

/// Formats the message of the other end in brackets, if there is one.
fn in_brackets(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(" ({said})"),
    }
}

/// A failure, before place and operation are known.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: FailureReason,
    /// Message of the other end.
    pub(super) said: String,
}

impl Refusal {
    pub(super) fn other(said: &str) -> Refusal {
        Refusal::new(FailureReason::Other, said)
    }

    pub(super) fn new(why: FailureReason, said: &str) -> Refusal {
        let mut said = said.to_owned();
        truncate_text(&mut said, LONGEST);
        Refusal { why, said }
    }

    /// Creates the error with place and operation.
    pub(super) fn into_place_error(self, place: &str, doing: &str, name: &str) -> PlaceError {
        let tried = match name {
            "" => format!("{doing} it"),
            name => format!("{doing} {}", printable(name)),
        };
        PlaceError::Refused {
            place: place.to_owned(),
            tried,
            why: self.why,
            said: printable(self.said.trim()).into_owned(),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        let why = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                FailureReason::NoPermission
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FailureReason::Full,
            io::ErrorKind::FileTooLarge => FailureReason::TooLong,
            io::ErrorKind::TimedOut => FailureReason::NoAnswer,
            _ => FailureReason::Other,
        };
        Refusal::new(why, &error.to_string())
    }
}
