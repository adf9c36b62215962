//! Two machines behind one address.

use anyhow::Result;
use serde_json::json;

use super::{Place, on_the_path, with_certificate};
use crate::suites::check::case::Case;
use crate::suites::check::server::{Server, haproxy};

/// Two machines behind one address: HAProxy hands connections out in turn, below TLS.
fn pair(place: &Place<'_>, port: u16, keys: [&str; 2]) -> Result<Vec<Server>> {
    let dir = place.dir.display();
    let mut servers = Vec::new();
    let mut config = format!(
        "defaults\nmode tcp\ntimeout connect 5s\ntimeout client 60s\ntimeout server 60s\nlisten pair\nbind {}:{port}\nbalance roundrobin\n",
        place.address
    );
    for (number, key) in keys.iter().enumerate() {
        let own = port + 100 * (number as u16 + 1);
        let directives = format!("ssl_protocols TLSv1.2 TLSv1.3;\nssl_session_ticket_key {dir}/{key};");
        servers.push(place.nginx(own, "plain", &directives)?);
        config += &format!("server machine{number} {}:{own}\n", place.address);
    }
    servers.push(haproxy(place.host, place.dir, port, &config)?);
    Ok(servers)
}

/// Each has a key of its own.
pub fn apart(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let servers = pair(place, 8003, ["key2", "key3"])?;
    let case = on_the_path(Case::new("two nginx with keys of their own", 8003).connections(6))
        .is("/tls/resumption/connections", 6)
        .is("/tls/resumption/resumed", 0)
        .is("/tls/resumption/refused", 5)
        .is("/tls/resumption/share", 0.0)
        .is("/tls/resumption/ticket_key_mismatch", true)
        .lacks("/tls/resumption/ticket_keys/2")
        .finds("ticket_keys")
        .exits(7);
    Ok((with_certificate(place, case, "plain", false)?, servers))
}

/// Both have the same key.
pub fn together(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let servers = pair(place, 8004, ["key2", "key2"])?;
    let case = on_the_path(Case::new("two nginx with the same key", 8004).connections(6))
        .is("/tls/resumption/resumed", 5)
        .is("/tls/resumption/refused", 0)
        .is("/tls/resumption/share", 1.0)
        .is("/tls/resumption/ticket_keys", json!(["22".repeat(16)]))
        .is("/tls/resumption/ticket_key_mismatch", false)
        .silent_on("ticket_keys")
        .silent_on("resumption")
        .exits(0);
    Ok((with_certificate(place, case, "plain", false)?, servers))
}
