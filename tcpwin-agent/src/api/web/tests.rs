//! What the file may say, and what comes of a change.

use std::io::Write as _;

use super::*;
use crate::exporter::Refused;

fn complaint(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("web.yml");
    fs::write(&path, text).unwrap();
    let error = Web::open(&path).expect_err(text).to_string();
    error.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn complaints_name_the_line_and_what_is_allowed() {
    let complaints = [
        "tls_server_config:\n  cert_fil: a\n",
        "basic_auth_user:\n  alice: b\n",
        "http_server_config:\n  headers:\n    X-Powered-By: me\n",
        "http_server_config:\n  headers:\n    X-Frame-Options: allow\n",
        "\n\nbasic_auth_users:\n  alice: secret-in-the-clear\n",
        "basic_auth_users:\n  alice: $2y$31$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze\n",
        "tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: TLS14\n",
        "tls_server_config:\n  cert_file: a\n  key_file: b\n  cipher_suites:\n    - TLS_RSA_WITH_RC4_128_SHA\n",
        "tls_server_config:\n  cert_file: a\n  key_file: b\n  curve_preferences: [CurveP9]\n",
        "tls_server_config:\n  client_auth_type: Always\n",
        "rate_limit:\n  interval: 1s\n",
        "rate_limit:\n  interval: soon\n",
        "\ntls_server_config:\n  key_file: b\n",
        "\ntls_server_config:\n  cert_file: missing.pem\n  key_file: b\n",
        "tls_server_config: [\n",
        "tls_server_config:\n  key: |\n    one\n   two\n",
        "basic_auth_users: {}\nbasic_auth_users: {}\n",
        "- a list\n",
    ]
    .map(complaint);
    for told in &complaints {
        assert!(
            !told.contains("in-the-clear") && !told.contains("prsJPze"),
            "{told}"
        );
    }
    insta::assert_snapshot!(complaints.join("\n"));
}

#[test]
fn an_empty_file_asks_for_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for text in [
        "",
        "tls_server_config:\n",
        "# nothing\n",
        "basic_auth_users: {}\n",
    ] {
        fs::write(file.path(), text).unwrap();
        let web = Web::open(file.path()).unwrap();
        assert!(!web.speaks_tls() && !web.authenticates(), "{text}");
    }
}

#[test]
fn a_change_is_taken_and_a_fault_keeps_what_was() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let web = Web::open(file.path()).unwrap();
    assert!(!web.authenticates());
    let user = "basic_auth_users:\n  alice: $2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze\n";
    file.write_all(user.as_bytes()).unwrap();
    assert!(web.authenticates());
    file.write_all(b"nonsense: 1\n").unwrap();
    assert!(web.authenticates());
    let told = web.reload().unwrap_err().to_string();
    assert!(told.contains(":3: ") && told.contains("nonsense"), "{told}");
    let path = file.path().to_owned();
    drop(file);
    assert!(web.authenticates(), "a file that has gone changes nothing");
    fs::write(&path, "").unwrap();
    assert!(!web.authenticates());
    fs::remove_file(&path).unwrap();
    assert_eq!(web.counts().refused(Refused::Handshake), 0);
}

#[test]
fn nothing_that_is_shown_for_debugging_has_a_secret() {
    let text = "basic_auth_users:\n  alice: $2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze\n\
                tls_server_config:\n  key: the-key\n";
    let file = File::parse(Path::new("web.yml"), text).unwrap();
    let shown = format!("{file:?}");
    assert!(!shown.contains("mDwo") && !shown.contains("the-key"), "{shown}");
}
