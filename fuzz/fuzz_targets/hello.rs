//! Any bytes as one direction of a TLS connection: nothing panics, every byte is in a record or in what is left, and no message is
//! made of more bytes than came.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpwin_agent::handshake::{ClientHello, Kind, Rest, ServerHello, messages, records, tls12_ticket};

fuzz_target!(|bytes: &[u8]| {
    let (found, rest) = records(bytes);
    let read: usize = found.iter().map(|record| record.wire_bytes()).sum();
    let left = match rest {
        Rest::Nothing => 0,
        Rest::Partial(left) => left,
        Rest::NotTls(at) => bytes.len() - at,
    };
    assert_eq!(read + left, bytes.len());
    let messages = messages(&found);
    let held: usize = messages.iter().map(|message| 4 + message.body.len()).sum();
    assert!(held <= bytes.len());
    for message in &messages {
        match message.kind {
            Kind::ClientHello => {
                if let Some(hello) = ClientHello::parse(&message.body) {
                    let tickets: usize = hello.tickets.iter().map(Vec::len).sum();
                    assert!(tickets <= message.body.len());
                }
            }
            Kind::ServerHello => drop(ServerHello::parse(&message.body)),
            Kind::NewSessionTicket => {
                if let Some(ticket) = tls12_ticket(&message.body) {
                    assert!(ticket.len() < message.body.len());
                }
            }
            _ => {}
        }
    }
});
