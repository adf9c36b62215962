//! TLS to the receiver: rustls, and the certificates that were given.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// Takes what one of these certificates has signed; `None` if there is none.
pub(super) fn tls(authorities: &[Vec<u8>]) -> Option<TlsConfig> {
    let certificates: Vec<Certificate<'static>> = authorities
        .iter()
        .map(|der| Certificate::from_der(der).to_owned())
        .collect();
    (!certificates.is_empty()).then(|| {
        TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
            .root_certs(RootCerts::new_with_certs(&certificates))
            .build()
    })
}
