use proptest::prelude::*;

use super::*;
use crate::observation::tcp_info::OPTION_SYN_DATA;
use crate::observation::{FastOpen, Observation, Origin};
use crate::units::Instant;

/// Datagrams captured from a 6.18 kernel, as `ss -tinmOe` showed them at the same time.
macro_rules! captured {
    ($name:literal) => {
        datagram(include_str!(concat!("captured/", $name, ".hex")))
    };
}

/// Where `INET_DIAG_INFO`'s payload starts in the captured IPv4 datagram: after it only the congestion control.
const INFO_AT: usize = 16 + 72 + 80;

fn datagram(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn record(datagram: &[u8]) -> Record {
    let message = messages(datagram).next().unwrap().unwrap();
    socket(message.payload).unwrap()
}

fn observation(datagram: &[u8]) -> Observation {
    record(datagram).observation(7, Instant(2), Instant(1), Origin::Connect)
}

/// The captured IPv4 datagram with its `tcp_info` cut or patched.
fn with_info(change: impl FnOnce(&mut Vec<u8>)) -> Observation {
    let whole = captured!("v4");
    let end = INFO_AT + 280;
    let mut info = whole[INFO_AT..end].to_vec();
    change(&mut info);
    let mut bytes = whole[..INFO_AT].to_vec();
    let len = (info.len() as u16 + 4).to_ne_bytes();
    bytes[INFO_AT - 4..INFO_AT - 2].copy_from_slice(&len);
    bytes.extend(&info);
    bytes.extend(&whole[end..]);
    let len = bytes.len() as u32;
    bytes[0..4].copy_from_slice(&len.to_ne_bytes());
    observation(&bytes)
}

#[test]
fn ipv4_as_ss_shows_it() {
    let seen = observation(&captured!("v4"));
    assert_eq!((seen.key.cookie, seen.key.netns), (0x1c, 7));
    assert_eq!(seen.endpoints.local, "127.0.0.1:59288".parse().unwrap());
    assert_eq!(seen.endpoints.peer, "127.0.0.1:36675".parse().unwrap());
    assert_eq!(seen.state, TcpState::Established);
    assert_eq!(seen.owner.inode, Some(48784));
    assert!(seen.owner.cgroup_id.is_some());
    assert_eq!(seen.tcp.cwnd, Some(11));
    assert_eq!(seen.tcp.ssthresh, None);
    assert_eq!((seen.tcp.srtt_us, seen.tcp.rttvar_us), (Some(30), Some(17)));
    assert_eq!(seen.tcp.min_rtt_us, Some(7));
    assert_eq!(seen.tcp.mss, Some(35328));
    assert_eq!(seen.tcp.snd_wnd, Some(70656));
    assert!(seen.tcp.rcv_wnd.is_some());
    assert_eq!((seen.tcp.snd_wscale, seen.tcp.rcv_wscale), (Some(10), Some(10)));
    assert_eq!(
        (seen.tcp.sndbuf, seen.tcp.rcvbuf, seen.tcp.wmem_queued),
        (Some(3_939_840), Some(131_072), Some(0))
    );
    assert_eq!(seen.tcp.pacing_rate, Some(220_162_146_888 / 8));
    assert_eq!(seen.tcp.max_pacing_rate, None);
    assert_eq!(seen.tcp.delivery_rate, Some(40_374_857_136 / 8));
    assert_eq!(seen.tcp.app_limited, Some(true));
    assert_eq!((seen.tcp.unsent, seen.tcp.in_flight), (Some(0), Some(0)));
    assert_eq!(seen.tcp.congestion.as_deref(), Some("bbr"));
    assert_eq!(seen.tcp.fastopen, None);
    assert_eq!(seen.totals.bytes_acked, Some(1001));
    assert_eq!(seen.totals.bytes_received, Some(0));
    assert_eq!(seen.totals.delivered, Some(2));
    assert_eq!(seen.totals.segments_in, Some(2));
    assert_eq!(seen.totals.retransmits, Some(0));
}

#[test]
fn ipv6_as_ss_shows_it() {
    let seen = observation(&captured!("v6"));
    assert_eq!(seen.key.cookie, 0x1a);
    assert_eq!(seen.endpoints.local, "[::1]:33278".parse().unwrap());
    assert_eq!(seen.endpoints.peer, "[::1]:36675".parse().unwrap());
    assert_eq!(seen.tcp.unread, Some(70));
    assert_eq!(seen.tcp.snd_wnd, Some(107_520));
    assert_eq!(seen.totals.bytes_acked, Some(5001));
    assert_eq!(seen.totals.bytes_received, Some(70));
}

#[test]
fn v4_mapped_is_told_as_ipv4() {
    let seen = observation(&captured!("v4_mapped"));
    assert_eq!(seen.endpoints.local, "127.0.0.1:36675".parse().unwrap());
    assert_eq!(seen.endpoints.peer, "127.0.0.1:59288".parse().unwrap());
    assert_eq!(seen.totals.bytes_received, Some(1000));
    // No sample of our own data yet.
    assert_eq!(seen.tcp.delivery_rate, None);
    assert_eq!(seen.tcp.app_limited, None);
}

#[test]
fn listeners_have_no_peer() {
    let listener = record(&captured!("listener"));
    assert_eq!(
        (listener.state, listener.local_port, listener.peer_port),
        (TcpState::Listen, 36675, 0)
    );
}

#[test]
fn a_destroyed_socket_keeps_what_only_the_living_one_told() {
    let live = record(&captured!("v4"));
    let destroyed = record(&captured!("destroyed_v4"));
    assert_eq!(
        (destroyed.state, destroyed.cookie),
        (TcpState::Close, live.cookie)
    );
    assert_eq!(destroyed.memory, None);
    let last = destroyed.after(&live);
    assert_eq!(
        (last.memory, last.congestion, last.cgroup),
        (live.memory, live.congestion, live.cgroup)
    );
    // SYN, payload and FIN.
    assert_eq!(last.info.unwrap().bytes_acked(), Some(1002));
}

#[test]
fn fields_beyond_an_older_kernels_length_are_absent() {
    // 5.10: up to tcpi_snd_wnd.
    let seen = with_info(|info| info.truncate(232));
    assert_eq!(seen.tcp.snd_wnd, Some(70656));
    assert_eq!(seen.tcp.rcv_wnd, None);
    // 4.9: up to tcpi_delivery_rate.
    let seen = with_info(|info| info.truncate(168));
    assert_eq!((seen.tcp.snd_wnd, seen.totals.chrono_us), (None, None));
    assert_eq!(seen.tcp.cwnd, Some(11));
    let seen = with_info(Vec::clear);
    assert_eq!((seen.tcp.cwnd, seen.totals.bytes_acked), (None, None));
    assert_eq!(seen.tcp.sndbuf, Some(3_939_840));
}

#[test]
fn a_newer_kernels_fields_are_ignored() {
    let seen = with_info(|info| info.extend([0xff; 64]));
    assert_eq!(seen, observation(&captured!("v4")));
}

#[test]
fn sentinels_are_absent() {
    let seen = with_info(|info| {
        info[5] = 0; // no option agreed on
        info[68..72].fill(0); // no rtt sample
        info[76..80].copy_from_slice(&0x7fff_ffffu32.to_ne_bytes());
        info[104..120].fill(0xff);
        info[148..152].fill(0xff);
    });
    assert_eq!(
        (seen.tcp.srtt_us, seen.tcp.rttvar_us, seen.tcp.min_rtt_us),
        (None, None, None)
    );
    assert_eq!((seen.tcp.pacing_rate, seen.tcp.max_pacing_rate), (None, None));
    assert_eq!(seen.tcp.ssthresh, None);
    assert_eq!((seen.tcp.wscale_ok, seen.tcp.snd_wscale), (Some(false), None));
}

#[test]
fn in_flight_is_capped_by_what_is_outstanding() {
    let set = |info: &mut Vec<u8>, offset: usize, value: u32| {
        info[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
    };
    // idiag_wqueue of the capture is 0: nothing is outstanding, whatever the segments say.
    let seen = with_info(|info| set(info, 24, 10));
    assert_eq!(seen.tcp.in_flight, Some(0));

    let mut counted = record(&captured!("v4"));
    let mut info = captured!("v4")[INFO_AT..INFO_AT + 280].to_vec();
    for (offset, segments) in [(24, 10), (28, 3), (32, 2), (36, 1)] {
        set(&mut info, offset, segments);
    }
    set(&mut info, 16, 1000);
    counted.info = Some(TcpInfo::parse(&info));
    counted.wqueue = 9_500;
    let tcp = counted.observation(1, Instant(0), Instant(0), Origin::Seeded).tcp;
    assert_eq!(tcp.in_flight, Some(6_000));
    counted.wqueue = 5_500;
    let tcp = counted.observation(1, Instant(0), Instant(0), Origin::Seeded).tcp;
    assert_eq!(tcp.in_flight, Some(5_500));
}

#[test]
fn fast_open_is_told_by_the_sockets_own_account() {
    let outcome = |options: u8, fail: u8| {
        with_info(|info| {
            info[5] |= options;
            info[7] = fail << 1;
        })
        .tcp
        .fastopen
    };
    assert_eq!(outcome(0, 0), None);
    assert_eq!(outcome(OPTION_SYN_DATA, 0), Some(FastOpen::DataAccepted));
    assert_eq!(outcome(0, 1), Some(FastOpen::CookieRequested));
    assert_eq!(outcome(0, 2), Some(FastOpen::DataRefused));
    assert_eq!(outcome(0, 3), Some(FastOpen::DataRefused));
}

#[test]
fn errors_carry_the_kernels_number() {
    let mut bytes = vec![0; 20];
    bytes[0..4].copy_from_slice(&20u32.to_ne_bytes());
    bytes[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
    bytes[16..20].copy_from_slice(&(-2i32).to_ne_bytes());
    assert_eq!(messages(&bytes).next().unwrap().unwrap().errno(), 2);
}

fn decode_all(bytes: &[u8]) -> usize {
    messages(bytes)
        .flatten()
        .filter_map(|message| socket(message.payload).ok())
        .inspect(|record| {
            let _ = record.observation(1, Instant(0), Instant(0), Origin::Seeded);
        })
        .count()
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        prop_assert!(messages(&bytes).count() <= bytes.len() / NLMSG_HEADER + 1);
        let _ = socket(&bytes);
        decode_all(&bytes);
    }

    #[test]
    fn damage_to_real_datagrams_is_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        for whole in [captured!("v4"), captured!("v6"), captured!("destroyed_v4")] {
            let mut bytes = [whole.clone(), whole].concat();
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            bytes.truncate(cut.index(bytes.len()) + 1);
            prop_assert!(decode_all(&bytes) <= 2 * bytes.len() / INET_DIAG_MSG);
        }
    }
}
