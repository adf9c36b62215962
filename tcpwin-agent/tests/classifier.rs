//! Laws of the classifier, on arbitrary counters.

use proptest::prelude::*;
use tcpwin_agent::classify::{Context, Limit, PathCapacity, PathOrigin, classify};
use tcpwin_agent::connection::interval::{BudgetShares, Interval};
use tcpwin_agent::observation::{CallCounts, Origin, Tcp, TcpState};
use tcpwin_agent::units::{Bytes, BytesPerSec, Nanos};

prop_compose! {
    fn tcp()(
        srtt_us in any::<Option<u32>>(), min_rtt_us in any::<Option<u32>>(), rttvar_us in any::<Option<u32>>(),
        cwnd in any::<Option<u32>>(), cwnd_clamp in any::<Option<u32>>(), mss in any::<Option<u32>>(),
        snd_wnd in any::<Option<u32>>(), max_window in any::<Option<u32>>(), snd_wscale in any::<Option<u8>>(),
        wscale_ok in any::<Option<bool>>(),
    )(
        sndbuf in any::<Option<u32>>(), sndbuf_locked in any::<Option<bool>>(), unsent in any::<Option<u32>>(),
        in_flight in any::<Option<u32>>(), packets_out in any::<Option<u32>>(), timeouts in any::<Option<u8>>(),
        pacing_rate in any::<Option<u64>>(), max_pacing_rate in any::<Option<u64>>(), bbr in any::<bool>(),
        srtt_us in Just(srtt_us), min_rtt_us in Just(min_rtt_us), rttvar_us in Just(rttvar_us), cwnd in Just(cwnd),
        cwnd_clamp in Just(cwnd_clamp), mss in Just(mss), snd_wnd in Just(snd_wnd), max_window in Just(max_window),
        snd_wscale in Just(snd_wscale), wscale_ok in Just(wscale_ok),
    ) -> Tcp {
        Tcp {
            srtt_us, min_rtt_us, rttvar_us, cwnd, cwnd_clamp, mss, snd_wnd, max_window, snd_wscale, wscale_ok, sndbuf,
            sndbuf_locked, unsent, in_flight, packets_out, timeouts, pacing_rate, max_pacing_rate,
            congestion: bbr.then(|| "bbr".into()),
            ..Tcp::default()
        }
    }
}

prop_compose! {
    fn interval()(
        tcp in tcp(), span in 0..u64::MAX, age in any::<u64>(), acked in any::<Option<u64>>(), received in any::<Option<u64>>(),
        parts in any::<Option<[u16; 6]>>(), flights in any::<[Option<u32>; 6]>(), turns in any::<u32>(), resumes in any::<u32>(),
    )(
        retransmits in any::<Option<u32>>(), life_delivered in any::<Option<u32>>(), zero_window in prop::option::of(0.0..=1.0f64),
        chrono in prop::option::of([0.0..=1.0f64, 0.0..=1.0f64, 0.0..=1.0f64]), state in 1u8..=12,
        tcp in Just(tcp), span in Just(span), age in Just(age), acked in Just(acked), received in Just(received),
        parts in Just(parts), flights in Just(flights), turns in Just(turns), resumes in Just(resumes),
    ) -> Interval {
        let budget = parts.filter(|parts| parts.iter().any(|part| *part > 0)).map(|parts| {
            let sum: f64 = parts.iter().map(|part| f64::from(*part)).sum();
            BudgetShares { share: parts.map(|part| f64::from(part) / sum), flight: flights.map(|flight| flight.map(f64::from)) }
        });
        Interval {
            origin: Origin::Accept,
            state: TcpState::from_kernel(state).expect("all states"),
            acked: acked.map(Bytes), received: received.map(Bytes), budget,
            calls: Some(CallCounts { turns, resumes, ..CallCounts::default() }),
            retransmits, zero_window, chrono, life_retransmits: retransmits, life_delivered, tcp,
            ..Interval::unknown(Nanos(span), Nanos(age))
        }
    }
}

proptest! {
    #[test]
    fn any_counters_give_a_sound_verdict(interval in interval(), wmem in any::<Option<u64>>(), path in prop::option::of(0.0..1e12f64)) {
        let path = path.map(|rate| PathCapacity { rate: BytesPerSec(rate), origin: PathOrigin::Seen });
        let context = Context { tcp_wmem_max: wmem, path, ..Context::default() };
        let verdict = classify(&interval, &context);
        prop_assert!((0.0..=1.0).contains(&verdict.confidence), "confidence {}", verdict.confidence);
        for ceiling in verdict.ceiling.iter().chain(&verdict.next) {
            prop_assert!(ceiling.rate.0.is_finite() && ceiling.rate.0 >= 0.0, "{ceiling:?}");
        }
        prop_assert!(!verdict.proof.is_empty());
        prop_assert!(!verdict.proof.contains("NaN") && !verdict.proof.contains("inf "), "{}", verdict.proof);
        if verdict.limit == Limit::Unknown {
            prop_assert_eq!(verdict.confidence, 0.0);
        }
        if let (Some(ceiling), Some(next)) = (&verdict.ceiling, &verdict.next) {
            prop_assert!(next.limit != verdict.limit);
            prop_assert!(next.rate.0 >= ceiling.rate.0 * 0.97);
        }
    }

    #[test]
    fn twice_the_window_is_twice_the_ceiling(window in 4_096u32..1_000_000_000, rtt in 1_000u32..500_000) {
        let at = |window: u32| {
            let tcp = Tcp {
                srtt_us: Some(rtt), min_rtt_us: Some(rtt), mss: Some(1448), snd_wnd: Some(window), max_window: Some(window),
                snd_wscale: Some(14), wscale_ok: Some(true), cwnd: Some(u32::MAX), ..Tcp::default()
            };
            let rate = f64::from(window) / (f64::from(rtt) / 1e6);
            let mut budget = BudgetShares { share: [0.0; 6], flight: [None; 6] };
            budget.share[tcpwin_common::BUDGET_RWND] = 1.0;
            let interval = Interval {
                acked: Some(Bytes(rate as u64)), received: Some(Bytes(0)), budget: Some(budget), retransmits: Some(0),
                zero_window: Some(0.0), life_retransmits: Some(0), life_delivered: Some(1000), tcp,
                ..Interval::unknown(Nanos(1_000_000_000), Nanos(10_000_000_000))
            };
            let verdict = classify(&interval, &Context::default());
            assert_eq!(verdict.limit, Limit::Rwnd, "{}", verdict.proof);
            verdict.ceiling.expect("a window has a ceiling").rate.0
        };
        let (one, two) = (at(window), at(window * 2));
        prop_assert!((two / one - 2.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_scaled_scales_every_ceiling(
        window in 4_096u32..1_000_000, sndbuf in 4_096u32..1_000_000, cwnd in 2u32..10_000, pacing in 10_000u64..1_000_000_000,
        rtt in 1_000u32..500_000, times in 2u32..50,
    ) {
        let at = |times: u32| {
            let tcp = Tcp {
                srtt_us: Some(rtt), min_rtt_us: Some(rtt), mss: Some(1448), snd_wnd: Some(window * times),
                max_window: Some(window * times), cwnd: Some(cwnd * times), sndbuf: Some(sndbuf * times), sndbuf_locked: Some(true),
                max_pacing_rate: Some(pacing * u64::from(times)), ..Tcp::default()
            };
            let mut budget = BudgetShares { share: [0.0; 6], flight: [None; 6] };
            budget.share[tcpwin_common::BUDGET_RWND] = 1.0;
            let acked = f64::from(window * times) / (f64::from(rtt) / 1e6);
            let interval = Interval {
                acked: Some(Bytes(acked as u64)), received: Some(Bytes(0)), budget: Some(budget), tcp,
                ..Interval::unknown(Nanos(1_000_000_000), Nanos(10_000_000_000))
            };
            let mut ledger = classify(&interval, &Context::default()).ledger;
            ledger.sort_by_key(|ceiling| ceiling.limit);
            ledger
        };
        let (one, many) = (at(1), at(times));
        prop_assert!(one.len() >= 4, "{one:?}");
        for (one, many) in one.iter().zip(&many) {
            prop_assert_eq!(one.limit, many.limit);
            let ratio = many.rate.0 / one.rate.0;
            // Bytes are whole: a small buffer's payload is cut to one.
            prop_assert!((ratio / f64::from(times) - 1.0).abs() < 1e-3, "{ratio} for {times}: {one:?}");
        }
    }
}
