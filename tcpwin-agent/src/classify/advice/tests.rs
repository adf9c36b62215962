//! Advice on the posts' own figures, the traps in it, and its laws on any figures.

use proptest::prelude::*;

use super::{Ask, Program, Surroundings, of};
use crate::classify::{Direction, Limit, PathCapacity, PathOrigin, Remedy, Side};
use crate::host::Sizes;
use crate::units::{Bytes, BytesPerSec, Micros};

fn path(rate: f64) -> PathCapacity {
    PathCapacity {
        rate: BytesPerSec(rate),
        origin: PathOrigin::Seen,
    }
}

/// 65,535 B over 181 ms, on a path of 100 Mbit/s.
fn far() -> Ask {
    Ask {
        rate: BytesPerSec(362_072.0),
        srtt: Some(Micros(181_000)),
        min_rtt: Some(Micros(181_000)),
        mss: 1448,
        path: Some(path(12.5e6)),
        ..Ask::default()
    }
}

fn changes(remedies: &[Remedy]) -> String {
    remedies
        .iter()
        .map(|remedy| {
            format!(
                "{} [{}] ({})\n",
                remedy.change,
                remedy.why,
                remedy.caveat.as_deref().unwrap_or("")
            )
        })
        .collect()
}

#[test]
fn send_buffer_of_the_kernel_is_twice_the_bdp_and_needs_no_wmem_max() {
    let ask = Ask {
        sndbuf: Some(65_536),
        around: Surroundings {
            tcp_wmem: Some(Sizes {
                min: 4096,
                initial: 16_384,
                max: 65_536,
            }),
            connections: Some(100),
            ..Surroundings::default()
        },
        ..far()
    };
    let remedies = of(Limit::Sndbuf, &ask);
    let [remedy] = remedies.as_slice() else {
        panic!("{}", changes(&remedies));
    };
    assert_eq!(
        remedy.change,
        "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 8388608\""
    );
    assert_eq!(remedy.memory_bytes, Some(838_860_800));
    assert!(!remedy.new_connections, "tcp_wmem[2] is read as the buffer grows");
    let caveat = remedy.caveat.as_deref().unwrap();
    assert!(
        caveat.contains("wmem_max need not follow") && caveat.contains("tcp_notsent_lowat"),
        "{caveat}"
    );
}

#[test]
fn ten_gigabit_over_thirty_milliseconds() {
    let ask = Ask {
        rate: BytesPerSec(139.8e6),
        min_rtt: Some(Micros(30_000)),
        path: Some(path(1.25e9)),
        ..far()
    };
    assert_eq!(ask.need(), Some(Bytes(37_500_000)));
    let text = changes(&of(Limit::Sndbuf, &ask));
    assert!(text.contains("\"4096 16384 134217728\""), "{text}");
}

#[test]
fn a_locked_send_buffer_is_the_programs() {
    let ask = Ask {
        sndbuf: Some(131_072),
        sndbuf_locked: Some(true),
        around: Surroundings {
            tcp_wmem: Some(Sizes {
                min: 4096,
                initial: 16_384,
                max: 4 << 20,
            }),
            wmem_max: Some(212_992),
            ..Surroundings::default()
        },
        ..far()
    };
    let remedies = of(Limit::Sndbuf, &ask);
    assert_eq!(remedies[0].change, "remove the program's setsockopt(SO_SNDBUF)");
    assert_eq!(
        remedies[1].change,
        "setsockopt(SO_SNDBUF, 4194304) with sysctl -w net.core.wmem_max=4194304"
    );
    // 4 MiB is less than twice 2.26 MB.
    assert!(
        remedies[2].change.starts_with("sysctl -w net.ipv4.tcp_wmem"),
        "{}",
        changes(&remedies)
    );
    let nginx = Ask {
        around: Surroundings {
            program: Some(Program::Nginx),
            ..ask.around
        },
        ..ask
    };
    assert!(
        of(Limit::Sndbuf, &nginx)[0]
            .change
            .contains("`listen … sndbuf=4m`")
    );
}

#[test]
fn a_peer_with_a_low_scale_needs_a_new_connection() {
    let ask = Ask {
        snd_wscale: Some(2),
        snd_wnd: Some(161_004),
        ..far()
    };
    let remedies = of(Limit::Rwnd, &ask);
    let kernel = remedies
        .iter()
        .find(|remedy| remedy.side == Side::PeerKernel)
        .unwrap();
    assert!(kernel.new_connections);
    assert!(kernel.change.contains("4096 131072 8388608"), "{}", kernel.change);
    assert!(
        kernel.caveat.as_deref().unwrap().contains("ends at 256 KiB"),
        "{kernel:?}"
    );
    let wide = of(
        Limit::Rwnd,
        &Ask {
            snd_wscale: Some(7),
            ..ask
        },
    );
    let kernel = wide
        .iter()
        .find(|remedy| remedy.side == Side::PeerKernel)
        .unwrap();
    assert!(!kernel.new_connections);
    assert!(kernel.caveat.as_deref().unwrap().contains("29,200"));
}

#[test]
fn the_third_number_is_not_below_the_second() {
    let slow = Ask {
        rate: BytesPerSec(20_400.0),
        path: None,
        ..far()
    };
    let text = changes(&of(Limit::Rwnd, &slow));
    assert!(text.contains("\"4096 131072 6291456\""), "{text}");
    let small = Sizes {
        min: 4096,
        initial: 131_072,
        max: 8192,
    };
    let around = Surroundings {
        tcp_rmem: Some(small),
        ..Surroundings::default()
    };
    let text = changes(&of(Limit::Rcvbuf, &Ask { around, ..slow }));
    assert!(text.contains("\"4096 131072 131072\""), "{text}");
}

#[test]
fn without_scaling_both_ends_and_the_path_are_asked() {
    let ask = Ask {
        wscale_ok: Some(false),
        around: Surroundings {
            window_scaling: Some(false),
            ..Surroundings::default()
        },
        ..far()
    };
    let sides: Vec<_> = of(Limit::RwndScale, &ask)
        .iter()
        .map(|remedy| (remedy.side, remedy.new_connections))
        .collect();
    assert_eq!(
        sides,
        [
            (Side::LocalKernel, true),
            (Side::PeerKernel, true),
            (Side::Path, true)
        ]
    );
}

#[test]
fn in_a_download_the_client_sets_the_window() {
    let server = Ask {
        accepted: Some(true),
        burst: Some(Bytes(65_535)),
        around: Surroundings {
            program: Some(Program::Nginx),
            local_port: Some(443),
            peer_port: Some(51_000),
            ..Surroundings::default()
        },
        ..far()
    };
    let text = changes(&of(Limit::AppWindow, &server));
    assert!(
        text.contains("on the peer, which receives: a protocol window of 4194304 bytes"),
        "{text}"
    );
    assert!(
        text.contains("if the peer is gRPC: Go client: `grpc.WithInitialWindowSize(4194304)"),
        "{text}"
    );
    assert!(text.contains("are for uploads"), "{text}");
    assert!(
        !text.contains("`http2_body_preread_size"),
        "the server's directive is no remedy: {text}"
    );
}

#[test]
fn in_an_upload_the_server_sets_the_window() {
    let client = Ask {
        accepted: Some(false),
        around: Surroundings {
            local_port: Some(51_000),
            peer_port: Some(443),
            ..Surroundings::default()
        },
        ..far()
    };
    let text = changes(&of(Limit::AppWindow, &client));
    for part in [
        "if the peer is nginx: `http2_body_preread_size 4m; client_body_buffer_size 4m;`",
        "if the peer is Apache httpd: `H2WindowSize 4194304`",
        "if the peer is HAProxy: `tune.h2.fe.initial-window-size 4194304`",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let server = Ask {
        accepted: Some(true),
        direction: Direction::Receive,
        around: Surroundings {
            program: Some(Program::Envoy),
            local_port: Some(443),
            connections: Some(10),
            ..Surroundings::default()
        },
        ..far()
    };
    let remedies = of(Limit::AppWindow, &server);
    assert!(
        remedies[0]
            .change
            .starts_with("Envoy: listener's `http2_protocol_options: {initial_stream_window_size: 4194304,"),
        "{remedies:?}"
    );
    assert_eq!(remedies[0].memory_bytes, Some(41_943_040));
}

#[test]
fn openssh_has_no_option_for_its_channel_window() {
    let ask = Ask {
        burst: Some(Bytes(1_982_464)),
        around: Surroundings {
            peer_port: Some(22),
            local_port: Some(40_000),
            ..Surroundings::default()
        },
        ..far()
    };
    let text = changes(&of(Limit::AppWindow, &ask));
    assert!(
        text.contains("HPN-SSH at the receiving end") && text.contains("no option"),
        "{text}"
    );
    assert!(!text.contains("HTTP/2"), "{text}");
}

#[test]
fn a_route_is_changed_with_its_metric() {
    for limit in [Limit::CwndStartup, Limit::CwndClamp] {
        let text = changes(&of(limit, &far()));
        assert!(text.contains("metric included"), "{limit:?}: {text}");
    }
    let text = changes(&of(Limit::CwndStartup, &far()));
    assert!(
        text.contains("a first flight of 46336 bytes instead of 14480"),
        "{text}"
    );
}

#[test]
fn a_policer_is_paced_below() {
    let ask = Ask {
        rate: BytesPerSec(2.5e6),
        ..far()
    };
    let text = changes(&of(Limit::Policer, &ask));
    assert!(text.contains("setsockopt(SO_MAX_PACING_RATE, 2375000)"), "{text}");
    assert!(text.contains("fq maxrate 19mbit"), "{text}");
    assert!(text.contains("a burst of at least 452500 bytes"), "{text}");
}

#[test]
fn bbr_is_not_told_to_use_bbr() {
    for limit in [Limit::Loss, Limit::Policer] {
        assert!(changes(&of(limit, &far())).contains("tcp_congestion_control=bbr"));
        let text = changes(&of(
            limit,
            &Ask {
                is_bbr: true,
                ..far()
            },
        ));
        assert!(!text.contains("tcp_congestion_control=bbr"), "{text}");
    }
}

#[test]
fn small_writes_name_their_price() {
    let ask = Ask {
        write: Some(Bytes(8160)),
        ..far()
    };
    assert!(
        changes(&of(Limit::SmallWrites, &ask)).contains("writes of 8160 bytes are 123 system calls per MB")
    );
    let text = changes(&of(Limit::SmallWrites, &Ask { nagle: true, ..ask }));
    assert!(text.contains("TCP_NODELAY") && text.contains("40 ms"), "{text}");
}

prop_compose! {
    fn ask()(
        rate in any::<f64>(), capacity in any::<Option<f64>>(), rtts in any::<(Option<u32>, Option<u32>)>(), mss in any::<u32>(),
        cwnds in any::<(Option<u32>, Option<u32>)>(), windows in any::<(Option<u32>, Option<u32>)>(),
        buffers in any::<(Option<u32>, Option<u32>)>(), locked in any::<(Option<bool>, Option<bool>, Option<bool>)>(),
        scales in any::<(Option<u8>, Option<u8>)>(), pace in any::<Option<u64>>(), loss in any::<f64>(),
    )(
        bools in any::<(bool, bool, bool)>(), amounts in any::<(Option<u64>, Option<u64>)>(), accepted in any::<Option<bool>>(),
        ports in any::<(Option<u16>, Option<u16>)>(), maxima in any::<(Option<u64>, Option<u64>)>(), count in any::<Option<u32>>(),
        rate in Just(rate), capacity in Just(capacity), rtts in Just(rtts), mss in Just(mss), cwnds in Just(cwnds), windows in Just(windows),
        buffers in Just(buffers), locked in Just(locked), scales in Just(scales), pace in Just(pace), loss in Just(loss),
    ) -> Ask {
        let sizes = |max| Sizes { min: 4096, initial: 16_384, max };
        Ask {
            direction: if bools.0 { Direction::Send } else { Direction::Receive },
            rate: BytesPerSec(rate), srtt: rtts.0.map(Micros), min_rtt: rtts.1.map(Micros), mss, cwnd: cwnds.0, clamp: cwnds.1,
            snd_wnd: windows.0, rcv_wnd: windows.1, sndbuf: buffers.0, sndbuf_locked: locked.0, rcvbuf: buffers.1,
            rcvbuf_locked: locked.1, snd_wscale: scales.0, rcv_wscale: scales.1, wscale_ok: locked.2, max_pacing_rate: pace, loss,
            is_bbr: bools.1, write: amounts.0.map(Bytes), burst: amounts.1.map(Bytes), nagle: bools.2, accepted,
            path: capacity.map(path),
            is_one_of_many: false,
            shrunk_below: None,
            around: Surroundings {
                local_port: ports.0, peer_port: ports.1, connections: count, tcp_wmem: maxima.0.map(sizes),
                tcp_rmem: maxima.1.map(sizes), ..Surroundings::default()
            },
        }
    }
}

proptest! {
    #[test]
    fn any_figures_give_sound_advice(ask in ask()) {
        for limit in Limit::ALL {
            for remedy in of(limit, &ask) {
                let text = format!("{} {} {:?}", remedy.change, remedy.why, remedy.caveat);
                prop_assert!(!remedy.change.is_empty() && !remedy.why.is_empty());
                prop_assert!(!text.contains("NaN") && !text.contains(" inf"), "{text}");
            }
        }
    }

    #[test]
    fn buffers_are_never_lowered(now in 1u64..1 << 29, rate in 1.0..1e10f64, rtt in 1u32..1_000_000) {
        let ask = Ask {
            rate: BytesPerSec(rate), min_rtt: Some(Micros(rtt)), mss: 1448, sndbuf: Some(now as u32), rcvbuf: Some(now as u32),
            around: Surroundings {
                tcp_wmem: Some(Sizes { min: 4096, initial: 16_384, max: now }),
                tcp_rmem: Some(Sizes { min: 4096, initial: 131_072, max: now }),
                ..Surroundings::default()
            },
            ..Ask::default()
        };
        for limit in [Limit::Sndbuf, Limit::Rcvbuf] {
            let remedies = of(limit, &ask);
            let typed = remedies[0].change.rsplit_once(' ').expect("three numbers").1.trim_end_matches('"');
            prop_assert!(typed.parse::<u64>().expect("a number") > now, "{}", remedies[0].change);
        }
    }
}
