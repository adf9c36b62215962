//! Flow control of the programs' own, as in HTTP/2 or SSH: the sender may have so many bytes out that the receiver has
//! not yet granted back, whatever TCP would allow.

use anyhow::Result;

use super::Until;
use super::transfer::{read, read_all, send_all};
use crate::lab::flow::pattern::Method;
use crate::lab::flow::send::Sender;
use crate::lab::flow::worker::Connection;

/// Bytes of one grant: an HTTP/2 WINDOW_UPDATE frame (RFC 9113 section 6.9).
const GRANT_BYTES: usize = 13;

/// The sender: spends what it has been granted.
pub fn spend(
    connection: &Connection,
    window_bytes: usize,
    update_bytes: usize,
    frame_bytes: usize,
    until: Until,
) -> Result<()> {
    let mut sender = Sender::new(Method::Write, frame_bytes)?;
    let mut grants = vec![0; GRANT_BYTES * 64];
    let (mut credit_bytes, mut grants_bytes) = (window_bytes, 0);
    loop {
        while credit_bytes > 0 {
            let frame = credit_bytes.min(frame_bytes);
            if !send_all(connection, &mut sender, frame, &connection.bytes)? || until.is_over() {
                return Ok(());
            }
            credit_bytes -= frame;
        }
        match read(connection, &mut grants, &connection.back_bytes)? {
            0 => return Ok(()),
            n => grants_bytes += n,
        }
        credit_bytes += grants_bytes / GRANT_BYTES * update_bytes;
        grants_bytes %= GRANT_BYTES;
    }
}

/// The receiver: grants as much as it has consumed, each time that is a full update.
pub fn grant(connection: &Connection, update_bytes: usize) -> Result<()> {
    let mut sender = Sender::new(Method::Write, GRANT_BYTES)?;
    while read_all(connection, update_bytes, &connection.bytes)?
        && send_all(connection, &mut sender, GRANT_BYTES, &connection.back_bytes)?
    {}
    Ok(())
}
