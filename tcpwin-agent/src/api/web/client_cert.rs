//! Judges of clients' certificates that rustls does not bring: one that takes any, one that looks at the names.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Takes any certificate whose key the client has: `RequestClientCert`, `RequireAnyClientCert`.
#[derive(Debug)]
pub(super) struct Unverified {
    algorithms: WebPkiSupportedAlgorithms,
    required: bool,
}

impl Unverified {
    pub(super) fn new(provider: &CryptoProvider, required: bool) -> Self {
        Self {
            algorithms: provider.signature_verification_algorithms,
            required,
        }
    }
}

impl ClientCertVerifier for Unverified {
    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Takes of the certificates that another takes those with one of the names: `client_allowed_sans`.
#[derive(Debug)]
pub(super) struct Named {
    judge: Arc<dyn ClientCertVerifier>,
    allowed: BTreeSet<String>,
}

impl Named {
    pub(super) fn new(judge: Arc<dyn ClientCertVerifier>, allowed: &[String]) -> Self {
        Self {
            judge,
            allowed: allowed.iter().cloned().collect(),
        }
    }
}

impl ClientCertVerifier for Named {
    fn client_auth_mandatory(&self) -> bool {
        self.judge.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.judge.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.judge.verify_client_cert(certificate, between, now)?;
        if names(certificate)?.iter().any(|name| self.allowed.contains(name)) {
            Ok(verified)
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.judge.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.judge.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.supported_verify_schemes()
    }
}

/// Its alternative names (RFC 5280, section 4.2.1.6) as text: DNS, e-mail, IP, URI.
fn names(certificate: &CertificateDer<'_>) -> Result<Vec<String>, Error> {
    let bad = |_| Error::from(CertificateError::BadEncoding);
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(bad)?;
    let extension = parsed
        .subject_alternative_name()
        .map_err(|_| Error::from(CertificateError::BadEncoding))?;
    let names = extension.map(|extension| extension.value.general_names.iter());
    Ok(names.into_iter().flatten().filter_map(text).collect())
}

fn text(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(text) | GeneralName::RFC822Name(text) | GeneralName::URI(text) => {
            Some((*text).to_owned())
        }
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let sixteen = <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
            four.or(sixteen).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}
