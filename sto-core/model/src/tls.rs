//! The encryption of HTTP requests.

use std::sync::{Arc, LazyLock};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsConfigBuilder};

/// The certificates that this system trusts, or those of `$SSL_CERT_FILE` and `$SSL_CERT_DIR`.
static ROOTS: LazyLock<RootCerts> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs().certs;
    let certificates = found
        .iter()
        .map(|der| Certificate::from_der(der).to_owned());
    certificates.into()
});

/// Returns the settings that all requests share: the ciphers of ring, and the certificates that this system trusts.
pub fn tls_config() -> TlsConfigBuilder {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    TlsConfig::builder()
        .root_certs(ROOTS.clone())
        .unversioned_rustls_crypto_provider(provider)
}
