//! Signatures of addresses.

use crate::clock::now;
use crate::problem::Problem;
use axum::http::StatusCode;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

/// The time for which an address is valid: enough to open it, too short to pass it on.
const VALID: Duration = Duration::from_secs(600);

/// A signature of the address of a file.
pub(super) struct Signature {
    /// The second since 1970 from which it is no longer valid.
    pub(super) expires: u64,
    mac: blake3::Hash,
}

impl Signature {
    /// Signs the address of a file.
    pub(super) fn new(format: &str, query: &str) -> Result<Signature, Problem> {
        let expires = now().0 + VALID.as_secs();
        Ok(Signature {
            expires,
            mac: mac(expires, format, query)?,
        })
    }

    /// Checks a signature in an address.
    pub(super) fn check(text: &str, format: &str, query: &str) -> Result<(), Problem> {
        let parsed = text.split_once('-').and_then(|(expires, mac)| {
            Some((expires.parse().ok()?, blake3::Hash::from_hex(mac).ok()?))
        });
        let (expires, signed): (u64, blake3::Hash) = parsed.ok_or_else(refused)?;
        // Hashes are compared in constant time.
        if signed != mac(expires, format, query)? || expires <= now().0 {
            return Err(refused());
        }
        Ok(())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.expires, self.mac)
    }
}

fn refused() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "the address is signed for another file, or no longer valid; open the file from the server's pages again",
    )
}

/// Returns the code that only this process can compute.
fn mac(expires: u64, format: &str, query: &str) -> Result<blake3::Hash, Problem> {
    static KEY: OnceLock<Option<[u8; 32]>> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok().map(|()| key)
    });
    let key = key.as_ref().ok_or_else(Problem::internal)?;
    // A format is a part of a path and has no line feed.
    let message = format!("{expires}\n{format}\n{query}");
    Ok(blake3::keyed_hash(key, message.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_valid_for_one_file_only() {
        let signature = Signature::new("folded", "selector=v1").unwrap().to_string();
        assert!(Signature::check(&signature, "folded", "selector=v1").is_ok());
        for (signature, format, query) in [
            (&*signature, "folded", "selector=v2"),
            (&*signature, "pprof", "selector=v1"),
            (&*format!("9{signature}"), "folded", "selector=v1"),
            ("", "folded", "selector=v1"),
            ("1-", "folded", "selector=v1"),
        ] {
            let refused = Signature::check(signature, format, query).unwrap_err();
            assert_eq!(refused.status, 403);
        }
    }

    #[test]
    fn an_old_signature_is_refused() {
        let mac = mac(7, "folded", "").unwrap();
        let old = Signature { expires: 7, mac }.to_string();
        assert!(Signature::check(&old, "folded", "").is_err());
    }
}
