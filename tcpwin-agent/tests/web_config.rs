//! The web configuration file: promtool takes and refuses what we do, and an agent does what it says.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tcpwin_agent::api::Web;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/pki.rs"]
mod pki;
#[path = "support/told.rs"]
mod told;

use agent::Agent;
use pki::Pki;

/// What `promtool check web-config` says against it.
fn promtool(path: &Path) -> Result<(), String> {
    let check = Command::new("promtool")
        .args(["check", "web-config"])
        .arg(path)
        .output()
        .expect("promtool starts");
    let told = [check.stdout, check.stderr].concat();
    match check.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&told).into_owned()),
    }
}

/// Files end in `good` or `bad` where both agree, `later` where an older promtool may not know a key, and `stricter`
/// where only we refuse.
#[test]
fn promtool_takes_and_refuses_the_same() {
    let pki = Pki::new();
    let has_promtool = Command::new("promtool").arg("--version").output().is_ok();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web_config");
    let mut seen = 0;
    for entry in fs::read_dir(files).expect("a folder") {
        let from = entry.expect("an entry").path();
        let name = from.file_name().and_then(|name| name.to_str()).expect("text");
        let path = pki.path(name);
        fs::copy(&from, &path).expect("copied");
        let ours = Web::open(&path);
        let kind = name.split('.').nth(1).expect("a kind");
        assert_eq!(ours.is_ok(), matches!(kind, "good" | "later"), "{name}: {ours:?}");
        seen += 1;
        if !has_promtool {
            continue;
        }
        match (kind, promtool(&path)) {
            ("good" | "stricter" | "later", Ok(())) | ("bad", Err(_)) => {}
            ("later", Err(why)) if why.contains("not found in type") => {}
            (_, theirs) => panic!("{name}: promtool says {theirs:?}"),
        }
    }
    assert!(seen > 20, "{seen} files");
}

/// Inline, and with no file beside it.
#[test]
fn certificates_may_stand_in_the_file_itself() {
    let pki = Pki::new();
    let indented = |name: &str| {
        let text = fs::read_to_string(pki.path(name)).expect("text");
        text.lines()
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
    };
    let text = format!(
        "tls_server_config:\n  cert: |\n{}  key: |\n{}  client_auth_type: RequireAndVerifyClientCert\n  client_ca: |\n{}",
        indented("server.pem"),
        indented("server.key"),
        indented("ca.pem"),
    );
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), text).expect("written");
    let web = Web::open(file.path()).expect("taken");
    assert!(web.speaks_tls() && web.authenticates());
}

const PASSWORD: &str = "correct horse battery staple";

fn start(pki: &Pki, text: &str, more: &[&str]) -> Agent {
    fs::write(pki.path("web.yml"), text).expect("written");
    let path = pki.argument("web.yml");
    let ours = [
        "--source",
        "sock_diag",
        "--log.level",
        "trace",
        "--web.config.file",
        &path,
    ];
    Agent::start(&[&ours[..], more].concat())
}

/// Exit code and standard error of a short trace.
fn trace(agent: &Agent, more: &[&str]) -> (i32, String) {
    let traced = Command::new(agent::TCPWIN)
        .args(["trace", "--json", "--duration", "100ms", "--connect", agent.url()])
        .args(more)
        .env_remove("TCPWIN_AUTH")
        .output()
        .expect("trace starts");
    let told = String::from_utf8(traced.stderr).expect("text");
    (traced.status.code().expect("it ends by itself"), told)
}

fn refused(agent: &Agent, more: &[&str], why: &str) {
    let (code, told) = trace(agent, more);
    assert!(code == 1 && told.contains(why), "{more:?}: {code}: {told}");
}

fn taken(agent: &Agent, more: &[&str]) {
    assert_eq!(
        trace(agent, more),
        (0, String::new()),
        "{more:?}: {}",
        agent.log()
    );
}

#[test]
fn tls_and_a_password_are_asked_for_and_never_logged() {
    let pki = Pki::new();
    let hash = bcrypt::hash(PASSWORD, 6).expect("a hash");
    let text = format!(
        "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\nbasic_auth_users:\n  alice: {hash}\n"
    );
    let mut agent = start(&pki, &text, &[]);
    assert!(agent.url().starts_with("https://"), "{}", agent.url());
    let ca = pki.argument("ca.pem");
    let auth = |line: &str| {
        fs::write(pki.path("auth"), line).expect("written");
        pki.argument("auth")
    };
    refused(&agent, &[], "--web.ca-file");
    refused(&agent, &["--web.ca-file", &ca], "--web.auth-file");
    let wrong = auth("alice:guessed-wrong\n");
    refused(
        &agent,
        &["--web.ca-file", &ca, "--web.auth-file", &wrong],
        "does not take",
    );
    let right = auth(&format!("alice:{PASSWORD}\n"));
    taken(&agent, &["--web.ca-file", &ca, "--web.auth-file", &right]);

    // In the clear: a sentence for who left the `s` out.
    let mut plain = TcpStream::connect(agent.url().trim_start_matches("https://")).expect("it listens");
    plain
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .expect("sent");
    let mut told = String::new();
    plain.read_to_string(&mut told).expect("text");
    assert!(
        told.starts_with("HTTP/1.1 400") && told.contains("https://"),
        "{told}"
    );

    agent.end(Signal::TERM);
    let log = agent.log();
    assert!(
        log.contains("TLS handshake"),
        "the log is that of trace level: {log}"
    );
    let key = fs::read_to_string(pki.path("server.key")).expect("text");
    let key = key.lines().nth(1).expect("a line of the key");
    let encoded = "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ";
    for secret in [PASSWORD, "guessed-wrong", hash.as_str(), key, encoded, "Basic "] {
        assert!(!log.contains(secret), "`{secret}` is in {log}");
    }
}

#[test]
fn a_client_shows_a_certificate_of_the_authority_with_an_allowed_name() {
    let pki = Pki::new();
    let text = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_ca_file: ca.pem\n  \
                client_auth_type: RequireAndVerifyClientCert\n  client_allowed_sans: [192.0.2.7]\n";
    let agent = start(&pki, text, &[]);
    let ca = pki.argument("ca.pem");
    let of = |name: &str| [format!("{name}.pem"), format!("{name}.key")].map(|file| pki.argument(&file));
    let with = |ca: &str, [certificate, key]: [String; 2]| {
        [
            "--web.ca-file",
            ca,
            "--web.cert-file",
            &certificate,
            "--web.key-file",
            &key,
        ]
        .map(str::to_owned)
    };
    let as_text = |given: &[String; 6]| given.each_ref().map(|each| each.clone());
    let scraper = with(&ca, of("scraper"));
    taken(&agent, &as_text(&scraper).each_ref().map(String::as_str));
    refused(&agent, &["--web.ca-file", &ca], "--web.cert-file");
    let other = with(&ca, of("other"));
    refused(
        &agent,
        &other.each_ref().map(String::as_str),
        "no tcpwin agent answers",
    );
    let stranger = Pki::new();
    let certificate = [stranger.argument("scraper.pem"), stranger.argument("scraper.key")];
    let unknown = with(&ca, certificate);
    refused(
        &agent,
        &unknown.each_ref().map(String::as_str),
        "no tcpwin agent answers",
    );
}

#[test]
fn a_new_certificate_is_shown_to_the_next_client() {
    let (pki, renewed) = (Pki::new(), Pki::new());
    let text = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n";
    let agent = start(&pki, text, &[]);
    let (old, new) = (pki.argument("ca.pem"), renewed.argument("ca.pem"));
    taken(&agent, &["--web.ca-file", &old]);
    for name in ["server.pem", "server.key"] {
        fs::rename(renewed.path(name), pki.path(name)).expect("moved");
    }
    taken(&agent, &["--web.ca-file", &new]);
    refused(&agent, &["--web.ca-file", &old], "--web.ca-file");
}

#[test]
fn a_faulty_file_is_2_at_start_and_told_when_read_again() {
    let pki = Pki::new();
    fs::write(pki.path("web.yml"), "http_server_config:\n  header: {}\n").expect("written");
    let path = pki.argument("web.yml");
    let ended = Command::new(agent::TCPWIN)
        .args([
            "agent",
            "--source",
            "sock_diag",
            "--web.listen-address",
            "127.0.0.1:0",
        ])
        .args(["--web.config.file", &path])
        .output()
        .expect("it starts");
    let told = String::from_utf8(ended.stderr).expect("text");
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(
        told.contains(&format!("{path}:2: unknown field `header`")),
        "{told}"
    );

    let agent = start(
        &pki,
        "http_server_config:\n  headers:\n    X-Frame-Options: sameorigin\n",
        &["--web.enable-lifecycle"],
    );
    let post = |agent: &Agent| {
        let mut stream = TcpStream::connect(agent.address()).expect("it listens");
        let request = "POST /-/reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("sent");
        let mut told = String::new();
        stream.read_to_string(&mut told).expect("text");
        told
    };
    let told = post(&agent);
    assert!(
        told.starts_with("HTTP/1.1 200") && told.contains("x-frame-options: sameorigin"),
        "{told}"
    );
    assert!(!told.contains("x-frame-options: deny"), "one of a kind: {told}");
    fs::write(pki.path("web.yml"), "rate_limit: {interval: 1s}\n").expect("written");
    let told = post(&agent);
    assert!(
        told.starts_with("HTTP/1.1 500") && told.contains("web.yml:1: rate_limit"),
        "{told}"
    );
    assert!(
        told.contains("x-frame-options: sameorigin"),
        "what was in force stays: {told}"
    );
}
