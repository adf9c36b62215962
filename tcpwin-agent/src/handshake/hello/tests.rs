//! Hellos of a real client, and every cut of them.

use std::sync::Arc;

use proptest::prelude::*;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::{ClientHello, RETRY, ServerHello};
use crate::handshake::{Kind, group_name, messages, records, tls12_ticket, version_name};

/// The first bytes of a client of rustls.
fn client_bytes() -> Vec<u8> {
    let mut config = ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("www.example.org").expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut bytes = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut bytes).expect("memory");
    }
    bytes
}

#[test]
fn what_a_client_offers_is_read() {
    let bytes = client_bytes();
    let (found, _) = records(&bytes);
    let found = messages(&found);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, Kind::ClientHello);
    let hello = ClientHello::parse(&found[0].body).expect("a hello");
    assert_eq!(version_name(hello.version), "TLS 1.3");
    assert_eq!(hello.server_name.as_deref(), Some("www.example.org"));
    assert_eq!(hello.alpn, ["h2", "http/1.1"]);
    assert!(hello.status_request && !hello.early_data && hello.tickets.is_empty());
    assert_eq!(group_name(hello.key_shares[0]), "X25519MLKEM768");
    assert!(
        bytes.len() > 1_400,
        "post-quantum keys make it two segments: {}",
        bytes.len()
    );
}

/// Both directions of connections between OpenSSL 3.0's client and server; the fuzzer begins with them too.
macro_rules! openssl {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../fuzz/corpus/hello/",
            $name
        ))
    };
}

fn hellos(bytes: &[u8]) -> Vec<(Kind, Vec<u8>)> {
    let found = messages(&records(bytes).0).into_iter();
    let hello = found.filter(|message| matches!(message.kind, Kind::ClientHello | Kind::ServerHello));
    hello.map(|message| (message.kind, message.body)).collect()
}

#[test]
fn openssls_second_hellos_are_found_behind_its_change_of_cipher() {
    let (client, server) = (hellos(openssl!("retry_client")), hellos(openssl!("retry_server")));
    assert_eq!((client.len(), server.len()), (2, 2));
    let shares = client
        .iter()
        .map(|(_, body)| ClientHello::parse(body).expect("a hello").key_shares);
    assert_eq!(shares.collect::<Vec<_>>(), [[0x001d], [0x0018]]);
    let server: Vec<_> = server
        .iter()
        .map(|(_, body)| ServerHello::parse(body).expect("a hello"))
        .collect();
    assert_eq!((server[0].is_retry, server[1].is_retry), (true, false));
    assert_eq!(group_name(server[1].group.expect("a group")), "secp384r1");
}

#[test]
fn openssls_tls_1_2_shows_its_ticket_and_its_certificate() {
    let server = messages(&records(openssl!("tls12_server")).0);
    let of = |kind| server.iter().filter(|message| message.kind == kind).count();
    assert_eq!(
        (
            of(Kind::ServerHello),
            of(Kind::Certificate),
            of(Kind::NewSessionTicket)
        ),
        (1, 1, 1)
    );
    let ticket = server
        .iter()
        .find(|message| message.kind == Kind::NewSessionTicket);
    let ticket = ticket.and_then(|message| tls12_ticket(&message.body));
    assert!(ticket.is_some_and(|ticket| ticket.len() > 100), "{ticket:?}");
    let hello = ServerHello::parse(&server[0].body).expect("a hello");
    assert_eq!((hello.version, hello.group), (0x0303, None));
}

#[test]
fn openssls_tls_1_3_shows_its_hello_alone() {
    let server = messages(&records(openssl!("tls13_server")).0);
    assert_eq!(server.len(), 1);
    let hello = ServerHello::parse(&server[0].body).expect("a hello");
    assert_eq!(
        (hello.version, hello.group, hello.resumed),
        (0x0304, Some(0x001d), None)
    );
}

#[test]
fn a_retry_is_told_by_its_random() {
    let mut body = vec![3, 3];
    body.extend(RETRY);
    body.extend([0, 0x13, 0x01, 0]);
    let extensions = [0, 43, 0, 2, 3, 4, 0, 51, 0, 2, 0, 0x1d];
    body.extend([0, extensions.len() as u8]);
    body.extend(extensions);
    let hello = ServerHello::parse(&body).expect("a hello");
    assert!(hello.is_retry && hello.resumed.is_none());
    assert_eq!((hello.version, hello.group), (0x0304, Some(0x1d)));
    body[2] ^= 1;
    assert!(!ServerHello::parse(&body).expect("a hello").is_retry);
}

#[test]
fn a_server_of_tls_1_2_without_extensions_is_read() {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([2, 8, 9, 0xc0, 0x2f, 0]);
    let hello = ServerHello::parse(&body).expect("a hello");
    assert_eq!((hello.version, hello.cipher, hello.group), (0x0303, 0xc02f, None));
    assert_eq!(hello.session_id, [8, 9]);
}

#[test]
fn no_cut_of_a_hello_is_taken_for_one() {
    let bytes = client_bytes();
    let (found, _) = records(&bytes);
    let whole = messages(&found).remove(0).body;
    for cut in 0..whole.len() {
        assert_eq!(
            ClientHello::parse(&whole[..cut]),
            None,
            "{cut} of {}",
            whole.len()
        );
    }
}

proptest! {
    #[test]
    fn any_body_is_read(body in proptest::collection::vec(any::<u8>(), 0..300), at in any::<proptest::sample::Index>(), with in any::<u8>()) {
        let _ = ServerHello::parse(&body);
        let _ = ClientHello::parse(&body);
        let bytes = client_bytes();
        let mut changed = bytes.clone();
        let at = at.index(changed.len());
        changed[at] = with;
        for message in messages(&records(&changed).0) {
            let _ = ClientHello::parse(&message.body);
        }
    }
}
