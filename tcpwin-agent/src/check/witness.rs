//! Looks at a server's certificate as any client does, and goes on whatever it finds: what is wrong with it is a finding, and
//! nothing that is secret follows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// What a server showed.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The chain in its order, DER.
    pub chain: Vec<Vec<u8>>,
    /// The OCSP response; empty without one.
    pub staple: Vec<u8>,
    /// Why a client refuses it; `None` where none does.
    pub fault: Option<String>,
    /// When it was seen, seconds since 1970.
    pub at: u64,
}

/// A verifier that keeps what it saw.
#[derive(Debug)]
pub struct Witness {
    /// `None` where nobody is trusted.
    verifier: Option<Arc<WebPkiServerVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
    shown: Mutex<Option<Shown>>,
}

impl Witness {
    /// One that judges as clients do which trust these roots.
    pub fn new(roots: &RootCertStore, provider: &Arc<CryptoProvider>) -> Self {
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots.clone()), Arc::clone(provider))
                .build();
        Self {
            verifier: verifier.ok(),
            algorithms: provider.signature_verification_algorithms,
            shown: Mutex::default(),
        }
    }

    /// What the last full handshake showed; once.
    pub fn take(&self) -> Option<Shown> {
        self.shown().take()
    }

    fn shown(&self) -> MutexGuard<'_, Option<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unless_signed(&self, result: Result<HandshakeSignatureValid, Error>) -> HandshakeSignatureValid {
        result.unwrap_or_else(|error| {
            if let Some(shown) = &mut *self.shown() {
                shown
                    .fault
                    .get_or_insert_with(|| format!("its key did not sign the handshake: {error}"));
            }
            HandshakeSignatureValid::assertion()
        })
    }
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let fault = match &self.verifier {
            Some(verifier) => verifier
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .err()
                .map(|error| reason(&error)),
            None => Some(
                "this host trusts no authority: install ca-certificates, or name one with --ca-file"
                    .to_owned(),
            ),
        };
        let chain = [end_entity].into_iter().chain(intermediates);
        *self.shown() = Some(Shown {
            chain: chain.map(|certificate| certificate.to_vec()).collect(),
            staple: ocsp_response.to_vec(),
            fault,
            at: now.as_secs(),
        });
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(self.unless_signed(verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.algorithms,
        )))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(self.unless_signed(verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.algorithms,
        )))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// In words of people.
fn reason(error: &Error) -> String {
    use rustls::CertificateError as Fault;
    let Error::InvalidCertificate(fault) = error else {
        return error.to_string();
    };
    match fault {
        Fault::UnknownIssuer => "no authority that this host trusts has issued it".to_owned(),
        Fault::Expired | Fault::ExpiredContext { .. } => "it has expired".to_owned(),
        Fault::NotValidYet | Fault::NotValidYetContext { .. } => "it is not valid yet".to_owned(),
        Fault::NotValidForName | Fault::NotValidForNameContext { .. } => "it is not for this name".to_owned(),
        Fault::Revoked => "it is revoked".to_owned(),
        // webpki's own words stand within (rustls has no variant for them).
        Fault::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "it is an authority's own certificate in the place of a server's".to_owned()
        }
        other => other.to_string(),
    }
}
