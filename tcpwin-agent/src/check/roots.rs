//! Whom clients on this host trust.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// A file of certificates that holds none.
#[derive(Debug, thiserror::Error)]
#[error("{} has no certificate in PEM: {reason}", path.display())]
pub struct RootsError {
    path: PathBuf,
    reason: String,
}

/// The file's authorities, or those of the operating system.
pub fn roots(file: Option<&Path>) -> Result<RootCertStore, RootsError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = file else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let fault = |reason: String| RootsError {
        path: path.to_owned(),
        reason,
    };
    let read = CertificateDer::pem_file_iter(path).map_err(|error| fault(error.to_string()))?;
    for certificate in read {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        roots.add(certificate).map_err(|error| fault(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(fault("it is empty".to_owned()));
    }
    Ok(roots)
}
