//! An authority, the certificates it issues, and its OCSP responses; all by OpenSSL.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{paths, process};

/// Whom the servers are.
const NAME: &str = "server.test";
/// The responder that one of the certificates names.
pub const RESPONDER: &str = "http://ocsp.server.test/";
/// Days for which certificates are valid.
pub const DAYS: u32 = 30;

/// More names than fit with their certificate into ten segments.
const LARGE_NAMES: usize = 900;

/// Files of an authority.
pub struct Pki {
    dir: PathBuf,
    openssl: PathBuf,
}

impl Pki {
    /// Makes the authority, a certificate with a responder and a response for it, one without, one whose time is over and which
    /// insists on a staple, and one that is large.
    pub fn make(dir: &Path, address: &str) -> Result<Self> {
        let openssl = paths::program("openssl").context("openssl is not installed")?;
        let pki = Self {
            dir: dir.to_owned(),
            openssl,
        };
        pki.openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=authority -days 60 -keyout ca.key -out ca.crt")?;
        pki.issue("plain", address, "", DAYS.into())?;
        pki.issue("stale", address, "tlsfeature=status_request\n", -1)?;
        let many: Vec<String> = (0..LARGE_NAMES)
            .map(|number| format!("DNS:{number}.{NAME}"))
            .collect();
        pki.issue("large", &format!("{address},{}", many.join(",")), "", DAYS.into())?;
        pki.issue(
            "stapled",
            address,
            &format!("authorityInfoAccess=OCSP;URI:{RESPONDER}\n"),
            DAYS.into(),
        )?;
        pki.respond("stapled")?;
        // HAProxy wants key and chain in one file, and finds response and issuer beside it.
        pki.join("stapled", "haproxy.pem")?;
        fs::copy(pki.file("ca.crt"), pki.file("haproxy.pem.issuer")).context("cannot copy the issuer")?;
        fs::copy(pki.file("stapled.ocsp"), pki.file("haproxy.pem.ocsp"))
            .context("cannot copy the response")?;
        Ok(pki)
    }

    /// The name of the servers.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// The authority's certificate.
    pub fn authority(&self) -> PathBuf {
        self.file("ca.crt")
    }

    /// Bytes of a certificate as it is sent.
    pub fn der_bytes(&self, stem: &str) -> Result<u64> {
        self.openssl(&format!("x509 -in {stem}.crt -outform der -out {stem}.der"))?;
        Ok(fs::metadata(self.file(&format!("{stem}.der")))?.len())
    }

    /// A file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn issue(&self, stem: &str, address: &str, more: &str, days: i64) -> Result<()> {
        let extensions = format!("basicConstraints=CA:FALSE\nsubjectAltName=DNS:{NAME},IP:{address}\n{more}");
        fs::write(self.file(&format!("{stem}.ext")), extensions).context("cannot write extensions")?;
        self.openssl(&format!("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN={NAME} -keyout {stem}.key -out {stem}.csr"))?;
        self.openssl(&format!("x509 -req -in {stem}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days {days} -extfile {stem}.ext -out {stem}.crt"))
    }

    /// A response that says the certificate is good.
    fn respond(&self, stem: &str) -> Result<()> {
        let serial = process::output(Command::new(&self.openssl).current_dir(&self.dir).args([
            "x509",
            "-noout",
            "-serial",
            "-in",
            &format!("{stem}.crt"),
        ]))?;
        let serial = serial.trim().trim_start_matches("serial=").to_owned();
        // openssl-ca(1): valid, ends in 2049, not revoked, serial, no file, subject.
        let line = format!("V\t491231235959Z\t\t{serial}\tunknown\t/CN={NAME}\n");
        fs::write(self.file("index.txt"), line).context("cannot write the authority's index")?;
        self.openssl(&format!(
            "ocsp -issuer ca.crt -cert {stem}.crt -reqout {stem}.req"
        ))?;
        self.openssl(&format!("ocsp -index index.txt -CA ca.crt -rsigner ca.crt -rkey ca.key -ndays 7 -reqin {stem}.req -respout {stem}.ocsp"))
    }

    fn join(&self, stem: &str, to: &str) -> Result<()> {
        let mut joined = fs::read(self.file(&format!("{stem}.crt")))?;
        joined.extend(fs::read(self.file(&format!("{stem}.key")))?);
        fs::write(self.file(to), joined).context("cannot join key and certificate")
    }

    fn openssl(&self, line: &str) -> Result<()> {
        let mut command = Command::new(&self.openssl);
        command.current_dir(&self.dir).args(line.split(' '));
        process::output(&mut command).map(drop)
    }
}
