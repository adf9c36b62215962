//! Certificates of the test's own, made by openssl; no key is kept in the repository.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// An authority and what it issued, in a folder: `ca.pem`; `server.pem`, `scraper.pem`, `other.pem` with their `.key`.
pub struct Pki(TempDir);

/// Whom the authority vouches for, under which names.
const ISSUED: [(&str, &str); 3] = [
    ("server", "DNS:localhost,IP:127.0.0.1"),
    ("scraper", "DNS:scraper.example,IP:192.0.2.7"),
    ("other", "DNS:other.example"),
];

impl Pki {
    pub fn new() -> Self {
        let pki = Self(tempfile::tempdir().expect("a folder"));
        pki.openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem");
        for (name, alternative) in ISSUED {
            pki.openssl(&format!(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr"
            ));
            fs::write(pki.path("names"), format!("subjectAltName={alternative}\n")).expect("written");
            pki.openssl(&format!(
                "x509 -req -days 2 -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out {name}.pem"
            ));
        }
        pki
    }

    pub fn directory(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The same as an argument.
    pub fn argument(&self, name: &str) -> String {
        self.path(name).to_str().expect("text").to_owned()
    }

    fn openssl(&self, line: &str) {
        let made = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(self.0.path())
            .output()
            .expect("openssl is installed");
        assert!(
            made.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&made.stderr)
        );
    }
}
