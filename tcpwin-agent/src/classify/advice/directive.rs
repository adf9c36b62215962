//! The table of directives: which setting of which program, spelt as it is typed.
//!
//! Each was read in the program's own documentation or source. A protocol's window is set by the end that *receives* the body:
//! a server's directive is for uploads, a client's for downloads. The other end's changes nothing.

use super::size::suffixed;
use super::{Ask, Program};
use crate::classify::{Remedy, Side};

/// What a directive sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sets {
    /// SO_SNDBUF.
    Sndbuf,
    /// SO_RCVBUF.
    Rcvbuf,
    /// The protocol's window that a server grants: for uploads.
    Upload,
    /// The protocol's window that a client grants: for downloads.
    Download,
    /// How many requests are under way, or how much one asks for.
    Requests,
    /// How long unacknowledged data is waited for.
    Patience,
}

/// How a size is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Plain bytes.
    Bytes,
    /// With the suffix `k` or `m`.
    Suffixed,
    /// There is no size in it.
    None,
}

/// One setting of one program; `SIZE` stands for the size.
struct Directive {
    program: Program,
    sets: Sets,
    text: &'static str,
    unit: Unit,
    note: &'static str,
}

const fn row(program: Program, sets: Sets, text: &'static str, unit: Unit, note: &'static str) -> Directive {
    Directive {
        program,
        sets,
        text,
        unit,
        note,
    }
}

const CHANNEL: &str = "several connections at once, HPN-SSH at the receiving end, or rsync to a daemon";
const CHANNEL_NOTE: &str =
    "OpenSSH's channel window is 2 MiB (64 packets of 32 KiB) and no option changes it";

#[rustfmt::skip]
const TABLE: &[Directive] = &[
    row(Program::Nginx, Sets::Sndbuf, "`listen … sndbuf=SIZE`, or leave sndbuf= out", Unit::Suffixed,
        "left out, the kernel tunes the buffer by itself"),
    row(Program::Nginx, Sets::Rcvbuf, "`listen … rcvbuf=SIZE`, or leave rcvbuf= out", Unit::Suffixed,
        "left out, the kernel tunes the buffer by itself"),
    row(Program::Nginx, Sets::Upload, "`http2_body_preread_size SIZE; client_body_buffer_size SIZE;`", Unit::Suffixed,
        "for uploads, since 1.11.0; each request may take that much memory"),
    row(Program::Httpd, Sets::Sndbuf, "`SendBufferSize SIZE`, or 0 for the system's", Unit::Bytes, ""),
    row(Program::Httpd, Sets::Rcvbuf, "`ReceiveBufferSize SIZE`, or 0 for the system's", Unit::Bytes, ""),
    row(Program::Httpd, Sets::Upload, "`H2WindowSize SIZE`", Unit::Bytes,
        "for uploads; each request may take that much memory"),
    row(Program::Haproxy, Sets::Sndbuf, "remove `tune.sndbuf.client` and `tune.sndbuf.server` (or `tune.sndbuf.client SIZE`)", Unit::Bytes,
        "unset, the kernel tunes the buffer by itself"),
    row(Program::Haproxy, Sets::Rcvbuf, "remove `tune.rcvbuf.client` and `tune.rcvbuf.server` (or `tune.rcvbuf.client SIZE`)", Unit::Bytes,
        "unset, the kernel tunes the buffer by itself"),
    row(Program::Haproxy, Sets::Upload, "`tune.h2.fe.initial-window-size SIZE`", Unit::Bytes,
        "for uploads from clients; before the option was split, `tune.h2.initial-window-size`"),
    row(Program::Haproxy, Sets::Download, "`tune.h2.be.initial-window-size SIZE`", Unit::Bytes,
        "for answers from servers; before the option was split, `tune.h2.initial-window-size`"),
    row(Program::Envoy, Sets::Upload,
        "listener's `http2_protocol_options: {initial_stream_window_size: SIZE, initial_connection_window_size: {0}}`", Unit::Bytes,
        "Envoy buffers up to a stream's window: far more than the path needs only adds delay"),
    row(Program::Envoy, Sets::Download,
        "cluster's `http2_protocol_options: {initial_stream_window_size: SIZE, initial_connection_window_size: {0}}`", Unit::Bytes,
        "Envoy buffers up to a stream's window: far more than the path needs only adds delay"),
    row(Program::OpenSsh, Sets::Upload, CHANNEL, Unit::None, CHANNEL_NOTE),
    row(Program::OpenSsh, Sets::Download, CHANNEL, Unit::None, CHANNEL_NOTE),
    row(Program::Sftp, Sets::Upload, CHANNEL, Unit::None, CHANNEL_NOTE),
    row(Program::Sftp, Sets::Download, CHANNEL, Unit::None, CHANNEL_NOTE),
    row(Program::OpenSsh, Sets::Requests, "`sftp -R 256 -B 262144` (64 requests of 32 KiB are the default)", Unit::None,
        "not beyond the channel window of 2 MiB"),
    row(Program::Sftp, Sets::Requests, "`sftp -R 256 -B 262144` (64 requests of 32 KiB are the default)", Unit::None,
        "not beyond the channel window of 2 MiB"),
    row(Program::Postgres, Sets::Requests, "libpq's pipeline mode (client of 14 or newer), COPY, or fetching more rows at a time", Unit::None,
        "no setting of the server's saves the round trips"),
    row(Program::Postgres, Sets::Patience, "`tcp_user_timeout = 30000` (milliseconds; server and libpq, since 12)", Unit::None,
        "keepalives do not help: the kernel sends none while data is unacknowledged"),
    row(Program::Rsync, Sets::Sndbuf, "rsyncd.conf: `socket options = SO_SNDBUF=SIZE`, or none; client: --sockopts", Unit::Bytes,
        "only for connections to an rsync daemon: over ssh it is ssh's window"),
    row(Program::Rsync, Sets::Rcvbuf, "rsyncd.conf: `socket options = SO_RCVBUF=SIZE`, or none; client: --sockopts", Unit::Bytes,
        "only for connections to an rsync daemon: over ssh it is ssh's window"),
    row(Program::Java, Sets::Sndbuf, "Kafka: `socket.send.buffer.bytes=-1` (broker), `send.buffer.bytes=-1` (client)", Unit::None,
        "-1 leaves the buffer to the kernel"),
    row(Program::Java, Sets::Rcvbuf,
        "Kafka: `socket.receive.buffer.bytes=-1` (broker), `receive.buffer.bytes=-1` (client), `replica.socket.receive.buffer.bytes=SIZE`", Unit::Bytes,
        "-1 leaves the buffer to the kernel"),
    row(Program::Java, Sets::Download, "`-Djdk.httpclient.windowsize=SIZE -Djdk.httpclient.connectionWindowSize=SIZE`", Unit::Bytes,
        "the JDK's own HTTP client; others have settings of their own"),
    row(Program::Dotnet, Sets::Upload, "Kestrel: `Limits.Http2.InitialStreamWindowSize` and `InitialConnectionWindowSize` = SIZE", Unit::Bytes, ""),
    row(Program::Dotnet, Sets::Download, "`SocketsHttpHandler.InitialHttp2StreamWindowSize` = SIZE", Unit::Bytes, "16 MiB is the most it takes"),
    row(Program::Grpc, Sets::Upload,
        "Go server: `grpc.InitialWindowSize(SIZE), grpc.InitialConnWindowSize(SIZE)`; Java: `flowControlWindow(SIZE)`", Unit::Bytes,
        "Go wants both: one alone leaves the other at 64 KiB and ends the tuning by itself"),
    row(Program::Grpc, Sets::Download,
        "Go client: `grpc.WithInitialWindowSize(SIZE), grpc.WithInitialConnWindowSize(SIZE)`; Java: `flowControlWindow(SIZE)`", Unit::Bytes,
        "Go wants both: one alone leaves the other at 64 KiB and ends the tuning by itself"),
    row(Program::Curl, Sets::Download, "a newer curl: its HTTP/2 window is 10 MiB or more, and no option sets it", Unit::None, ""),
];

/// Lines about programs that the peer may be.
const MOST_GUESSES: usize = 3;

/// The setting of this end's program, where it is known.
pub(super) fn ours(ask: &Ask, sets: Sets, bytes: u64, why: &str) -> Option<Remedy> {
    let program = ask.around.program?;
    let directive = find(program, sets)?;
    let change = format!("{}: {}", program.name(), directive.typed(bytes));
    Some(directive.noted(Remedy::new(Side::LocalApp, change, why)))
}

/// The settings of the programs that the peer usually is, at these ports.
pub(super) fn theirs(ask: &Ask, sets: Sets, bytes: u64, why: &str) -> Vec<Remedy> {
    usual_peers(ask)
        .iter()
        .filter_map(|program| find(*program, sets))
        .take(MOST_GUESSES)
        .map(|directive| {
            let name = directive.program.name();
            let change = format!("if the peer is {name}: {}", directive.typed(bytes));
            directive.noted(Remedy::new(Side::PeerApp, change, why))
        })
        .collect()
}

fn usual_peers(ask: &Ask) -> &'static [Program] {
    let around = &ask.around;
    match ask.accepted {
        Some(true) => around.local_port.map_or(&[][..], Program::calling),
        Some(false) => around.peer_port.map_or(&[][..], Program::serving),
        None => &[],
    }
}

fn find(program: Program, sets: Sets) -> Option<&'static Directive> {
    TABLE
        .iter()
        .find(|row| row.program == program && row.sets == sets)
}

impl Directive {
    fn typed(&self, bytes: u64) -> String {
        let size = match self.unit {
            Unit::Bytes => bytes.to_string(),
            Unit::Suffixed => suffixed(bytes),
            Unit::None => String::new(),
        };
        self.text.replace("SIZE", &size)
    }

    fn noted(&self, remedy: Remedy) -> Remedy {
        if self.note.is_empty() {
            remedy
        } else {
            remedy.but(self.note)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_with_a_size_has_a_place_for_it() {
        for row in TABLE {
            assert_eq!(row.text.contains("SIZE"), row.unit != Unit::None, "{}", row.text);
            assert!(!row.typed(4 << 20).contains("SIZE"), "{}", row.text);
        }
    }

    #[test]
    fn a_setting_of_a_program_stands_once() {
        for (at, row) in TABLE.iter().enumerate() {
            let same = |other: &Directive| other.program == row.program && other.sets == row.sets;
            assert!(!TABLE[..at].iter().any(same), "{} twice", row.text);
        }
    }
}
