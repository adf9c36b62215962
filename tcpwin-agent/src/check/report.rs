//! What was found, in the names of the JSON contract (docs/check.md). What is not known is absent.

use serde::Serialize;

use super::budget::Budget;
use super::certificate::Certificate;
use super::claim::Judged;
use super::fastopen::FastOpen;
use super::flight::{Flight, Records};
use super::tickets::Resumption;

/// Everything that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// As it was asked for.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The resolver's answer; absent of what was an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolver: Option<Resolver>,
    /// Every address, in the resolver's order.
    pub addresses: Vec<Address>,
    /// The one that the rest is about, `ip:port`.
    pub checked: String,
    /// The least round-trip time that was seen to it.
    pub rtt_us: u32,
    /// Its TCP.
    pub tcp: Tcp,
    /// Its Fast Open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastopen: Option<FastOpen>,
    /// Its TLS; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Why there is none though it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_error: Option<String>,
    /// Its HTTP/2; absent where it is not spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2>,
    /// An answer to one request, on a connection of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answered>,
    /// The time to its first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Budget>,
    /// What slow start lets through.
    pub download: Vec<Download>,
    /// What was claimed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Judged>,
    /// What is wrong, could be better, or is worth knowing; the worst first.
    pub findings: Vec<Finding>,
    /// Parts that could not be done, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Connections that were opened.
    pub connections: u32,
}

/// What the resolver took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Resolver {
    /// For the first answer.
    pub first_us: u64,
    /// For the same again.
    pub again_us: u64,
}

/// One of a name's addresses.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Address {
    /// `ip:port`.
    pub address: String,
    /// The TCP handshake; absent where none came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_us: Option<u64>,
    /// The TLS handshake of the first address of a family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_us: Option<u64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What was agreed on in the TCP handshake.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Tcp {
    /// The handshake.
    pub connect_us: u64,
    /// The kernel's estimate from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<u32>,
    /// Bytes that a segment carries to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u32>,
    /// Bytes that we said a segment may carry to us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub our_mss_bytes: Option<u32>,
    /// Both ends scale windows.
    pub window_scaling: bool,
    /// The server's shift.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_wscale: Option<u8>,
    /// Ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub our_wscale: Option<u8>,
    /// The server's first window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_window_bytes: Option<u32>,
    /// The largest window that the server's shift lets it offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_window_bytes: Option<u64>,
    /// Both ends acknowledge selectively.
    pub sack: bool,
    /// Both ends send timestamps.
    pub timestamps: bool,
    /// Explicit congestion notification was agreed on.
    pub ecn: bool,
}

/// The server's TLS as a client meets it that comes for the first time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tls {
    /// `TLS 1.3`.
    pub version: String,
    /// The cipher suite.
    pub cipher: String,
    /// The group of the key exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Groups that our hello had keys for.
    pub key_shares: Vec<String>,
    /// The server asked for a second hello, a round trip more.
    pub hello_retry: bool,
    /// What is spoken over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpn: Option<String>,
    /// The handshake, without that of TCP.
    pub handshake_us: u64,
    /// Bytes of our hello, records and all.
    pub client_hello_bytes: usize,
    /// Segments that it takes.
    pub client_hello_segments: u64,
    /// Bytes that the server sent up to the end of the handshake.
    pub server_flight_bytes: usize,
    /// They came in more flights than the handshake has: the chain does not fit into the first window. Known of TLS 1.3, from 2 ms of
    /// round trip on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_flight_is_split: Option<bool>,
    /// What the server does with a client of each version.
    pub versions: Vec<Version>,
    /// Its chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// What it resumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Resumption>,
    /// Data before the server's answer; absent where its tickets are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyData>,
}

/// A version that was tried alone.
#[derive(Clone, Debug, Serialize)]
pub struct Version {
    /// `TLS 1.2`.
    pub version: String,
    /// The server speaks it.
    pub accepted: bool,
    /// The cipher suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher: Option<String>,
    /// A full handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_us: Option<u64>,
    /// A second connection resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
    /// It took so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_us: Option<u64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Data before the server's answer (RFC 8446, section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EarlyData {
    /// Bytes that the server's tickets allow; 0 is none.
    pub allowed_bytes: u32,
    /// The server took some; absent where none was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
}

/// The server's HTTP/2.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Http2 {
    /// SETTINGS_MAX_CONCURRENT_STREAMS; absent: no limit was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_streams: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE, 65,535 where it was not said: what a stream may upload before the server answers.
    pub upload_stream_window_bytes: u64,
    /// The connection's window after what the server added at once.
    pub upload_connection_window_bytes: u64,
    /// SETTINGS_MAX_FRAME_SIZE, 16,384 where it was not said.
    pub max_frame_bytes: u32,
    /// SETTINGS_HEADER_TABLE_SIZE, 4,096 where it was not said.
    pub header_table_bytes: u32,
    /// Window ÷ RTT: what one stream can upload.
    pub upload_stream_ceiling_bps: f64,
    /// The same of the connection.
    pub upload_connection_ceiling_bps: f64,
    /// What a client with RFC 9113's window can download here; the server's settings have no part in it.
    pub download_default_client_ceiling_bps: f64,
    /// The status of one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// From the request to its answer's first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<u64>,
}

/// One answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    /// What was asked for.
    pub path: String,
    /// `http/1.1` or `h2`.
    pub protocol: &'static str,
    /// The status; absent of what is no HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// From the request to the first byte.
    pub first_byte_us: u64,
    /// From the first byte to the last.
    pub transfer_us: u64,
    /// Bytes that were read, the head among them.
    pub bytes: u64,
    /// All of it was read.
    pub is_whole: bool,
    /// What came in the first flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_flight: Option<Flight>,
    /// The records of TLS it came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// The least that a download takes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Download {
    /// Its size.
    pub bytes: u64,
    /// Segments of the first flight.
    pub first_flight_segments: u64,
    /// They were seen; else they are the kernel's own initcwnd.
    pub first_flight_is_measured: bool,
    /// Round trips of slow start.
    pub round_trips: u32,
    /// What they take.
    pub least_us: u64,
    /// The rate over that.
    pub most_bps: f64,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Clients fail, or lose time at every visit, by something that is broken.
    Problem,
    /// It works, and a setting would save time.
    Advice,
    /// Worth knowing.
    Note,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What it is about: `ticket_keys`, `ocsp`, …; stable, for scripts.
    pub about: &'static str,
    /// In one or two sentences, with the numbers.
    pub text: String,
}
