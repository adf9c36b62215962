//! `tls_server_config` as rustls takes it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{ProtocolVersion, RootCertStore, ServerConfig, SupportedProtocolVersion, version};

use super::Fault;
use super::client_cert::{Named, Unverified};
use super::file::Tls;
use super::value::{ClientAuth, Curve, Suite, Version};

/// What is spoken over TLS.
const ALPN: &[u8] = b"http/1.1";

/// A listener's side of TLS.
#[derive(Debug)]
pub(super) struct Side {
    pub config: Arc<ServerConfig>,
    /// A certificate that a client showed was issued by one of `client_ca`.
    pub verifies_clients: bool,
    /// What was accepted and is not done.
    pub warnings: Vec<String>,
}

/// `None` if the section asks for no TLS.
pub(super) fn side(tls: &Tls) -> Result<Option<Side>, Fault> {
    if !is_asked_for(tls) {
        return Ok(None);
    }
    let mut warnings = Vec::new();
    let chain = certificates(
        &pem(tls.cert.as_deref(), tls.cert_file.as_deref(), "cert")?,
        "cert",
    )?;
    let key = pem(
        tls.key.as_ref().map(|key| key.reveal()),
        tls.key_file.as_deref(),
        "key",
    )?;
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| {
        fault("no private key of PEM in `key` or `key_file`; an encrypted one cannot be read")
    })?;
    let provider = Arc::new(provider(tls, &mut warnings)?);
    let versions = versions(tls, &provider, &mut warnings)?;
    let (verifier, verifies_clients) = client_verifier(tls, &provider)?;
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .map_err(|error| {
            fault(format!(
                "no TLS is possible with these versions and suites: {error}"
            ))
        })?;
    let mut config = builder
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|error| fault(format!("certificate and key do not go together: {error}")))?;
    config.ignore_client_order = tls.prefer_server_cipher_suites.unwrap_or(true);
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Some(Side {
        config: Arc::new(config),
        verifies_clients,
        warnings,
    }))
}

/// As the toolkit decides it: any key that only makes sense with TLS.
fn is_asked_for(tls: &Tls) -> bool {
    tls.files().next().is_some()
        || tls.cert.is_some()
        || tls.key.is_some()
        || tls.client_ca.is_some()
        || tls.client_auth_type.is_some()
}

fn fault(message: impl Into<String>) -> Fault {
    Fault {
        line: None,
        message: format!("tls_server_config: {}", message.into()),
    }
}

/// Given in the file itself or in one of its own; the latter wins, as in the toolkit.
fn pem(inline: Option<&str>, file: Option<&Path>, key: &str) -> Result<Vec<u8>, Fault> {
    match (inline, file) {
        (_, Some(path)) => fs::read(path)
            .map_err(|error| fault(format!("cannot read `{key}_file` {}: {error}", path.display()))),
        (Some(text), None) => Ok(text.as_bytes().to_vec()),
        (None, None) => Err(fault(format!("give `{key}_file` or `{key}`"))),
    }
}

fn certificates(pem: &[u8], key: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(fault(format!("no certificate of PEM in `{key}` or `{key}_file`"))),
        Err(error) => Err(fault(format!("`{key}` or `{key}_file` is not PEM: {error}"))),
    }
}

fn provider(tls: &Tls, warnings: &mut Vec<String>) -> Result<CryptoProvider, Fault> {
    let mut provider = aws_lc_rs::default_provider();
    if let Some(given) = tls.cipher_suites.as_ref().filter(|given| !given.is_empty()) {
        provider
            .cipher_suites
            .retain(|suite| suite.version().version == ProtocolVersion::TLSv1_3);
        for suite in given {
            match suite {
                Suite::Offered(suite) => provider.cipher_suites.push(*suite),
                Suite::Always => {}
                Suite::Absent(name) => warnings.push(format!(
                    "cipher suite {name} is left out: it lacks forward secrecy or authenticated encryption, and rustls has it not"
                )),
            }
        }
    }
    if let Some(given) = tls.curve_preferences.as_ref().filter(|given| !given.is_empty()) {
        provider.kx_groups.clear();
        for curve in given {
            match curve {
                Curve::Offered(group) => provider.kx_groups.push(*group),
                Curve::Absent(name) => warnings.push(format!("curve {name} is left out: rustls has it not")),
            }
        }
        if provider.kx_groups.is_empty() {
            return Err(fault("none of `curve_preferences` can be offered"));
        }
    }
    Ok(provider)
}

fn versions(
    tls: &Tls,
    provider: &CryptoProvider,
    warnings: &mut Vec<String>,
) -> Result<Vec<&'static SupportedProtocolVersion>, Fault> {
    let lowest = tls.min_version.unwrap_or(Version::Tls12);
    let highest = tls.max_version.unwrap_or(Version::Tls13);
    if lowest > highest {
        return Err(fault("`min_version` is above `max_version`"));
    }
    if highest < Version::Tls12 {
        return Err(fault(
            "TLS before 1.2 is not spoken: give `max_version` TLS12 or TLS13",
        ));
    }
    if lowest < Version::Tls12 {
        warnings.push("`min_version` is taken as TLS12: older ones are not spoken".to_owned());
    }
    let has_suites = |of: ProtocolVersion| {
        provider
            .cipher_suites
            .iter()
            .any(|suite| suite.version().version == of)
    };
    let mut versions = Vec::new();
    if highest == Version::Tls13 {
        versions.push(&version::TLS13);
    }
    if lowest <= Version::Tls12 {
        if has_suites(ProtocolVersion::TLSv1_2) {
            versions.push(&version::TLS12);
        } else {
            warnings
                .push("TLS 1.2 is not offered: none of `cipher_suites` is one of its suites here".to_owned());
        }
    }
    if versions.is_empty() {
        return Err(fault(
            "none of `cipher_suites` can be offered for `max_version` TLS12",
        ));
    }
    Ok(versions)
}

/// Who judges clients' certificates, and whether one that passes is proof of who they are.
fn client_verifier(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Result<(Arc<dyn ClientCertVerifier>, bool), Fault> {
    let kind = tls.client_auth_type.unwrap_or_default();
    let authorities = match (&tls.client_ca, &tls.client_ca_file) {
        (None, None) => None,
        (inline, file) => Some(pem(inline.as_deref(), file.as_deref(), "client_ca")?),
    };
    if kind == ClientAuth::NoClientCert && authorities.is_some() {
        return Err(fault(
            "`client_ca` without a `client_auth_type` would verify nobody: give RequireAndVerifyClientCert",
        ));
    }
    let required = matches!(
        kind,
        ClientAuth::RequireAnyClientCert | ClientAuth::RequireAndVerifyClientCert
    );
    let verifies = matches!(
        kind,
        ClientAuth::VerifyClientCertIfGiven | ClientAuth::RequireAndVerifyClientCert
    );
    let verifier: Arc<dyn ClientCertVerifier> = match kind {
        ClientAuth::NoClientCert => Arc::new(NoClientAuth),
        ClientAuth::RequestClientCert | ClientAuth::RequireAnyClientCert => {
            Arc::new(Unverified::new(provider, required))
        }
        ClientAuth::VerifyClientCertIfGiven | ClientAuth::RequireAndVerifyClientCert => {
            let Some(authorities) = authorities else {
                return Err(fault(
                    "this `client_auth_type` needs `client_ca_file`: whose certificates are to be believed",
                ));
            };
            web_pki(&authorities, provider, required)?
        }
    };
    let verifier: Arc<dyn ClientCertVerifier> = match &tls.client_allowed_sans {
        None => verifier,
        Some(_) if !required => {
            return Err(fault(
                "`client_allowed_sans` needs `client_auth_type` RequireAnyClientCert or RequireAndVerifyClientCert: \
                 with the others a client may show none",
            ));
        }
        Some(allowed) => Arc::new(Named::new(verifier, allowed)),
    };
    Ok((verifier, verifies))
}

fn web_pki(
    authorities: &[u8],
    provider: &Arc<CryptoProvider>,
    required: bool,
) -> Result<Arc<dyn ClientCertVerifier>, Fault> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authorities, "client_ca")? {
        let added = roots.add(certificate);
        added.map_err(|error| fault(format!("`client_ca` cannot be used: {error}")))?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let builder = if required {
        builder
    } else {
        builder.allow_unauthenticated()
    };
    let built = builder.build();
    built.map_err(|error| fault(format!("`client_ca` cannot be used: {error}")))
}
