//! The browser of the one user of `sto ui`: a link that works once turns into a cookie.

use crate::problem::Problem;
use crate::token::random_text;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use std::io;
use std::sync::{Mutex, PoisonError};
use subtle::ConstantTimeEq;

/// A browser that is admitted by a link.
pub(crate) struct Session {
    /// The token in the link, until it is used.
    link: Mutex<Option<String>>,
    /// Name and value of the cookie. Cookies do not tell ports apart, so the name does.
    cookie: String,
}

impl Session {
    pub(crate) fn new(port: u16) -> io::Result<Session> {
        Ok(Session {
            link: Mutex::new(Some(random_text()?)),
            cookie: format!("sto-{port}={}", random_text()?),
        })
    }

    /// The part of the link after the address, until it is used.
    pub(crate) fn query(&self) -> Option<String> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.as_ref().map(|token| format!("?token={token}"))
    }

    /// Answers a request with the token of the link: sets the cookie, and leads to the address without the token.
    ///
    /// Not by a redirect: browsers keep back cookies with `SameSite=Strict` in all redirects of a link that was clicked
    /// elsewhere, but send them when a page of this server leads on.
    pub(super) fn enter(&self, request: &Request) -> Option<Response> {
        let sent = request.uri().query()?.strip_prefix("token=")?;
        if request.method() != Method::GET {
            return None;
        }
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = link.as_ref().is_some_and(|token| is_same(token, sent));
        if is_right {
            *link = None;
        } else if !self.has_cookie(request) {
            return None;
        }
        let mut response = Html("<!doctype html><title>sto</title>").into_response();
        let headers = response.headers_mut();
        headers.insert(header::REFRESH, HeaderValue::from_static("0; url=/"));
        if is_right {
            let cookie = format!("{}; Path=/; HttpOnly; SameSite=Strict", self.cookie);
            headers.insert(header::SET_COOKIE, HeaderValue::try_from(cookie).ok()?);
        }
        Some(response)
    }

    /// Checks that a request has the cookie.
    pub(super) fn check(&self, request: &Request) -> Result<(), Problem> {
        if !self.has_cookie(request) {
            return Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "open the link that `sto ui` printed; it works once, and then in the same browser",
            ));
        }
        let is_safe = [Method::GET, Method::HEAD].contains(request.method());
        if !is_safe && !request.headers().contains_key(header::ORIGIN) {
            return Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "a request with a cookie needs an `Origin` header",
            ));
        }
        Ok(())
    }

    fn has_cookie(&self, request: &Request) -> bool {
        let sent = request.headers().get_all(header::COOKIE);
        let sent = sent.iter().filter_map(|cookies| cookies.to_str().ok());
        sent.flat_map(|cookies| cookies.split("; "))
            .any(|cookie| is_same(&self.cookie, cookie))
    }
}

fn is_same(secret: &str, sent: &str) -> bool {
    secret.as_bytes().ct_eq(sent.as_bytes()).into()
}
