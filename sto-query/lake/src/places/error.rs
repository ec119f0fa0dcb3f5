//! Why a place cannot be read or written.

use std::fmt;
use std::io;
use sto_model::printable;

/// Why a place cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// What was written is no place.
    #[error("{text}: {why}")]
    NoPlace {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing is known of places of this kind.
    #[error(
        "{text}: `{scheme}` is no kind of place; there are folders, and ssh://, s3://, gs:// and az://"
    )]
    OtherScheme {
        /// What was written.
        text: String,
        /// What stands before `://`.
        scheme: String,
    },
    /// What reaches the place was left out of this program.
    #[error("{place}: this program was built without object stores")]
    LeftOut {
        /// The place.
        place: String,
    },
    /// The place cannot be reached, or refuses.
    #[error("{place}: cannot {tried}: {why}{}", in_brackets(said))]
    Refused {
        /// The place.
        place: String,
        /// What was tried: `write profiles/...`.
        tried: String,
        /// Why, as far as that is known.
        why: Why,
        /// What the other end, or the system, said.
        said: String,
    },
}

/// Why a place refuses, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// It does not know who asks.
    Credentials(Advice),
    /// Who asks may not do that.
    NoPermission,
    /// There is no such bucket.
    NoBucket,
    /// There is no such machine.
    NoHost,
    /// There is a machine, or should be one, that does not answer.
    NoAnswer,
    /// The machine at the other end may be another than it says.
    HostKey,
    /// There is no `sftp` here.
    NoSftp,
    /// The disk is full.
    Full,
    /// A file is longer than it may be.
    TooLong,
    /// What was said says it all.
    Other,
}

/// How a place is told who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// As `ssh` is.
    Ssh,
    /// As S3 is.
    S3,
    /// As Google Cloud Storage is.
    Google,
    /// As Azure is.
    Azure,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Credentials(Advice::Ssh) => {
                "it does not let this user in; see that `ssh` does so without asking for a password"
            }
            Why::Credentials(Advice::S3) => {
                "it does not accept the credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to those of an account that may use it"
            }
            Why::Credentials(Advice::Google) => {
                "it does not accept the credentials; set GOOGLE_SERVICE_ACCOUNT to the file of an account that may use it"
            }
            Why::Credentials(Advice::Azure) => {
                "it does not accept the credentials; set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY to those of an account that may use it"
            }
            Why::NoPermission => "this user may not; change the permissions, or name another place",
            Why::NoBucket => "there is no such bucket; make it, or name another one",
            Why::NoHost => "nobody knows a machine of this name; see how it is spelled",
            Why::NoAnswer => "the machine does not answer; see that it is up, and try again",
            Why::HostKey => {
                "nobody has said yet that this machine is the right one; connect once by `ssh`, and see whether its key is"
            }
            Why::NoSftp => "there is no program `sftp` here; install OpenSSH's client",
            Why::Full => "there is no room; make some, and try again",
            Why::TooLong => "the file is longer than it may be",
            Why::Other => "it failed",
        })
    }
}

/// What the other end said, if it said anything.
fn in_brackets(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(" ({said})"),
    }
}

/// A refusal that does not know yet what was tried where.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: Why,
    /// What was said.
    pub(super) said: String,
}

impl Refusal {
    pub(super) fn other(said: &str) -> Refusal {
        Refusal::new(Why::Other, said)
    }

    pub(super) fn new(why: Why, said: &str) -> Refusal {
        let said = said.to_owned();
        Refusal { why, said }
    }

    /// The error, now that it is known.
    pub(super) fn at(self, place: &str, doing: &str, name: &str) -> PlaceError {
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
                Why::NoPermission
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Why::Full,
            io::ErrorKind::FileTooLarge => Why::TooLong,
            _ => Why::Other,
        };
        Refusal::new(why, &error.to_string())
    }
}
