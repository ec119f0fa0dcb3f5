//! The name by which a request addresses the server.

use crate::problem::Problem;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};
use std::net::IpAddr;

/// The host and port that a request addresses.
pub(super) fn requested(request: &Request) -> Result<String, Problem> {
    if let Some(authority) = request.uri().authority() {
        return Ok(authority.as_str().to_owned());
    }
    let mut named = request.headers().get_all(header::HOST).iter();
    match (named.next().map(|host| host.to_str()), named.next()) {
        (Some(Ok(host)), None) => Ok(host.to_owned()),
        _ => Err(Problem::bad_request(
            "the request has no `Host` header, or several",
        )),
    }
}

/// Checks that the host is this server: an IP address, `localhost`, or one of `allowed`.
///
/// Any other name may belong to someone who lets it resolve to this machine, so that pages of that name could read
/// answers of this server (DNS rebinding). IP addresses do not resolve.
pub(super) fn check(host: &str, allowed: &[String]) -> Result<(), Problem> {
    let authority: Authority = host
        .parse()
        .map_err(|_| Problem::bad_request("the `Host` header is not HOST:PORT"))?;
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let address = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(&name);
    let is_known = address.parse::<IpAddr>().is_ok()
        || name == "localhost"
        || name.ends_with(".localhost")
        || allowed
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(&name));
    if is_known {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        format!(
            "`{name}` is no name of this server; if it is, add it to `hosts` in the configuration file"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_known_names_are_this_server() {
        let allowed = ["profiles.example.org".to_owned()];
        for host in [
            "127.0.0.1:4940",
            "[::1]:4940",
            "192.168.0.7",
            "localhost:1",
            "a.localhost",
            "profiles.example.org",
            "Profiles.Example.org.:443",
        ] {
            assert!(check(host, &allowed).is_ok(), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "xprofiles.example.org",
            "",
            "a b",
            "127.0.0.1/x",
        ] {
            assert!(check(host, &allowed).is_err(), "{host}");
        }
    }
}
