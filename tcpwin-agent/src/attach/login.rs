//! With what an agent is asked that speaks TLS or wants to know who asks.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::crypto::aws_lc_rs;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, TlsProvider, parse_pem};

use super::AttachError;

/// What is shown to the agent, and whom it must be vouched for by.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// User and password.
    pub credentials: Option<Credentials>,
    /// The authorities that may vouch for the agent; without it those that this machine trusts.
    pub ca_file: Option<PathBuf>,
    /// Our certificate and those between it and its authority.
    pub cert_file: Option<PathBuf>,
    /// Its key.
    pub key_file: Option<PathBuf>,
}

/// A user and his password; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(String);

impl Credentials {
    /// From `user:password`, as a line of a file has it; `None` without a colon.
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(['\r', '\n']);
        line.contains(':').then(|| Self(line.to_owned()))
    }

    /// The value of the header (RFC 7617).
    pub(super) fn header(&self) -> String {
        format!("Basic {}", BASE64_STANDARD.encode(&self.0))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<credentials>")
    }
}

/// The address without the user and password that may stand in it, and these; percent signs are undone (RFC 3986, section 2.1).
pub(super) fn split_url(url: &str) -> (String, Option<Credentials>) {
    let Some((scheme, rest)) = url.split_once("://") else {
        return (url.to_owned(), None);
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let Some((user, _)) = authority.rsplit_once('@') else {
        return (url.to_owned(), None);
    };
    let bare = format!("{scheme}://{}", &rest[user.len() + 1..]);
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    (
        bare,
        Some(Credentials(format!("{}:{}", plain(user), plain(password)))),
    )
}

fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let coded = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match coded.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

impl Login {
    /// As the client takes it.
    pub(super) fn tls(&self) -> Result<TlsConfig, AttachError> {
        let roots = match &self.ca_file {
            Some(path) => certificates(path, "--web.ca-file")?,
            None => of_this_machine(),
        };
        let client = match (&self.cert_file, &self.key_file) {
            (Some(certificate), key) => {
                let chain = certificates(certificate, "--web.cert-file")?;
                let key = private_key(key.as_deref().unwrap_or(certificate))?;
                Some(ClientCert::new_with_certs(&chain, key))
            }
            (None, _) => None,
        };
        Ok(TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
            .root_certs(RootCerts::new_with_certs(&roots))
            .client_cert(client)
            .build())
    }
}

fn of_this_machine() -> Vec<Certificate<'static>> {
    let found = rustls_native_certs::load_native_certs();
    let certificates = found.certs.iter();
    certificates
        .map(|der| Certificate::from_der(der).to_owned())
        .collect()
}

fn read(path: &Path, flag: &'static str) -> Result<Vec<u8>, AttachError> {
    fs::read(path).map_err(|error| AttachError::Login {
        path: path.to_owned(),
        flag,
        why: error.to_string(),
    })
}

fn certificates(path: &Path, flag: &'static str) -> Result<Vec<Certificate<'static>>, AttachError> {
    let pem = read(path, flag)?;
    let items = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let certificates: Vec<_> = items.collect();
    if certificates.is_empty() {
        return Err(AttachError::Login {
            path: path.to_owned(),
            flag,
            why: "there is no certificate of PEM in it".to_owned(),
        });
    }
    Ok(certificates)
}

fn private_key(path: &Path) -> Result<PrivateKey<'static>, AttachError> {
    let pem = read(path, "--web.key-file")?;
    PrivateKey::from_pem(&pem).map_err(|_| AttachError::Login {
        path: path.to_owned(),
        flag: "--web.key-file",
        why: "there is no unencrypted private key of PEM in it".to_owned(),
    })
}

/// What to do about a failed handshake, if its words tell.
pub(super) fn remedy(cause: &str) -> &'static str {
    const REMEDIES: [(&str, &str); 7] = [
        (
            "UnknownIssuer",
            "; no authority that is trusted here issued its certificate: give the one that did with --web.ca-file",
        ),
        (
            "BadSignature",
            "; another authority of that name issued its certificate: give the one that did with --web.ca-file",
        ),
        (
            "NotValidForName",
            "; its certificate is for another name: ask under one that is in it",
        ),
        ("Expired", "; its certificate has run out: renew it"),
        (
            "CertificateRequired",
            "; it wants a client certificate: give one with --web.cert-file and --web.key-file",
        ),
        (
            "BadCertificate",
            "; it does not take the certificate of --web.cert-file",
        ),
        (
            "InvalidContentType",
            "; it does not seem to speak TLS: ask with http://",
        ),
    ];
    let known = REMEDIES.into_iter().find(|(word, _)| cause.contains(word));
    known.map_or("", |(_, remedy)| remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_of_an_address() {
        let (url, found) = split_url("https://alice:p%40ss%3A@host:1/");
        assert_eq!(url, "https://host:1/");
        assert_eq!(found, Some(Credentials("alice:p@ss:".to_owned())));
        for without in ["host:1", "https://host", "http://host/a@b", "unix:/a@b", ":1"] {
            assert_eq!(split_url(without), (without.to_owned(), None));
        }
    }

    #[test]
    fn credentials_are_told_to_the_agent_alone() {
        let aladdin = Credentials::from_line("Aladdin:open sesame\n").unwrap();
        assert_eq!(aladdin.header(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(!format!("{aladdin:?}").contains("sesame"));
        assert_eq!(Credentials::from_line("no colon"), None);
    }
}
