//! Tokens of clients. The configuration file has only their hashes.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;
use subtle::ConstantTimeEq;

/// A right of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scope {
    /// Ask questions, and see pages.
    Read,
    /// Send profiles.
    Write,
    /// Everything.
    Admin,
}

impl Scope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Admin => "admin",
        }
    }
}

/// A token by which clients are known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Token {
    /// Name in the log and on the status page.
    pub name: String,
    /// SHA-256 of the token.
    #[serde(deserialize_with = "parse_sha256")]
    sha256: [u8; 32],
    /// Rights of clients with the token.
    pub scopes: Vec<Scope>,
}

impl Token {
    pub(crate) fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }
}

fn parse_sha256<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = blake3::Hash::from_hex(&text).map_err(|_| {
        serde::de::Error::custom(
            "expected the 64 hexadecimal digits that `sto serve --new-token NAME` prints",
        )
    })?;
    Ok(*parsed.as_bytes())
}

/// Finds the token with this text. The time that it takes tells nothing about the text of tokens.
pub(crate) fn find<'a>(tokens: &'a [Token], sent: &str) -> Option<&'a Token> {
    let hash: [u8; 32] = Sha256::digest(sent).into();
    tokens.iter().find(|token| token.sha256.ct_eq(&hash).into())
}

/// A token that was made just now.
#[derive(Clone)]
pub struct NewToken {
    /// The token, to be given to the client.
    pub text: String,
    sha256: String,
}

impl NewToken {
    /// Makes a token of 32 random bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no random numbers.
    pub fn random() -> io::Result<NewToken> {
        let text = format!("sto_{}", random_text()?);
        let sha256 = blake3::Hash::from_bytes(Sha256::digest(&text).into());
        Ok(NewToken {
            sha256: sha256.to_hex().to_string(),
            text,
        })
    }

    /// The lines of the configuration file for this token.
    pub fn config(&self, name: &str) -> String {
        let name = serde_json::Value::from(name);
        format!(
            "[[token]]\nname = {name}\nsha256 = \"{}\"\nscopes = [\"read\", \"write\"]\n",
            self.sha256
        )
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewToken").finish_non_exhaustive()
    }
}

/// 32 random bytes as text for addresses and headers.
pub(crate) fn random_text() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
