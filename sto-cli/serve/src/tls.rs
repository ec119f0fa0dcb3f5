//! TLS with a certificate from files.

use crate::options::Tls;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

/// The reason why a certificate or key cannot be used.
#[derive(Debug, Error)]
#[error("{}: {message}", path.display())]
#[non_exhaustive]
pub struct TlsError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub message: String,
}

/// Reads certificate and key. Clients choose between HTTP/2 and HTTP/1.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, TlsError> {
    let failed = |path: &Path, message: String| TlsError {
        path: path.to_owned(),
        message,
    };
    let read = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|error| failed(&tls.certificate, error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|error| failed(&tls.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_no_client_auth())
        .and_then(|builder| builder.with_single_cert(certificates, key));
    let mut config = config.map_err(|error| failed(&tls.certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
