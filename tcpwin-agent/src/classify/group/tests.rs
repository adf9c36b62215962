use proptest::prelude::*;

use super::*;
use crate::classify::{Ceiling, Link};
use crate::observation::Prefix;

fn address(host: u8) -> IpAddr {
    IpAddr::from([203, 0, 113, host])
}

/// Bytes per second.
fn mbit(mbit: f64) -> BytesPerSec {
    BytesPerSec(mbit * 125_000.0)
}

/// A steady flow to a host, held by the peer's window, without a queue.
fn flow(cookie: u64, host: u8, rate: BytesPerSec) -> Flow {
    Flow {
        key: Key { cookie, netns: 1 },
        local: IpAddr::from([192, 0, 2, 1]),
        peer: address(host),
        limit: Limit::Rwnd,
        direction: Direction::Send,
        rate,
        delivered: rate,
        lately: Some([rate.0; LATELY]),
        rtt: Some(Micros(30_000)),
        is_queueing: false,
        queue_stands: false,
        path: Path::default(),
    }
}

fn flows(count: u64, host: impl Fn(u64) -> u8, rate: BytesPerSec, change: impl Fn(&mut Flow)) -> Vec<Flow> {
    (0..count)
        .map(|cookie| {
            let mut flow = flow(cookie, host(cookie), rate);
            change(&mut flow);
            flow
        })
        .collect()
}

fn verdict(limit: Limit, next: Option<BytesPerSec>) -> Verdict {
    let ceiling = |limit, rate| Ceiling {
        limit,
        rate,
        formula: "peer's window 65535 B ÷ 30.0 ms".to_owned(),
    };
    Verdict {
        limit,
        confidence: 0.95,
        ceiling: Some(ceiling(limit, mbit(1.0))),
        next: next.map(|rate| ceiling(Limit::Sndbuf, rate)),
        ..Verdict::none(Direction::Send, "The window is full.".to_owned())
    }
}

/// Verdicts of those that are held together.
fn joint(flows: &[Flow]) -> Vec<(usize, Verdict)> {
    let alone = verdict(Limit::Rwnd, None);
    together(flows, |_| Some(&alone))
}

fn on_link(rate: BytesPerSec) -> impl Fn(&mut Flow) {
    move |flow: &mut Flow| {
        flow.path.link = Some(Link {
            name: "eth0".into(),
            rate,
        });
    }
}

#[test]
fn ten_flows_that_fill_the_interface_are_held_by_it_together() {
    let full = flows(10, |cookie| cookie as u8, mbit(94.0), on_link(mbit(1000.0)));
    let judged = joint(&full);
    assert_eq!(judged.len(), 10);
    let proof = &judged[0].1.proof;
    assert!(
        proof.starts_with(
            "10 connections over eth0 send 940 Mbit/s together, 94 % of its 1.00 Gbit/s: the path is full"
        ),
        "{proof}"
    );
    assert!(
        judged
            .iter()
            .all(|(_, verdict)| verdict.limit == Limit::Bandwidth && verdict.confidence <= 0.9)
    );
    // More than it can carry: the speed is not what it was said to be.
    let beyond = flows(12, |cookie| cookie as u8, mbit(94.0), on_link(mbit(1000.0)));
    assert!(joint(&beyond).is_empty());
    let roomy = flows(9, |cookie| cookie as u8, mbit(94.0), on_link(mbit(1000.0)));
    assert!(joint(&roomy).is_empty());
}

#[test]
fn one_flow_is_no_group_and_directions_do_not_add_up() {
    assert!(joint(&flows(1, |_| 9, mbit(99.0), on_link(mbit(100.0)))).is_empty());
    let mut two = flows(2, |_| 9, mbit(50.0), on_link(mbit(100.0)));
    assert_eq!(joint(&two).len(), 2);
    two[0].direction = Direction::Receive;
    assert!(joint(&two).is_empty());
}

#[test]
fn what_the_user_says_of_a_prefix_is_shared_by_its_addresses() {
    let prefix = Prefix::around(address(0));
    let configured = |flow: &mut Flow| flow.path.configured = Some((prefix, mbit(100.0)));
    let judged = joint(&flows(5, |cookie| cookie as u8, mbit(19.0), configured));
    assert_eq!(judged.len(), 5);
    assert!(
        judged[0]
            .1
            .proof
            .contains("95 % of the 100 Mbit/s that its path has as configured"),
        "{}",
        judged[0].1.proof
    );
}

#[test]
fn a_queue_of_all_and_a_steady_total_need_no_known_capacity() {
    let queueing = |flow: &mut Flow| (flow.is_queueing, flow.queue_stands) = (true, true);
    assert_eq!(joint(&flows(3, |_| 9, mbit(6.0), queueing)).len(), 3);
    // To different addresses: each may have a queue of its own.
    assert!(joint(&flows(3, |cookie| cookie as u8, mbit(6.0), queueing)).is_empty());
    let mut mixed = flows(3, |_| 9, mbit(6.0), queueing);
    mixed[1].queue_stands = false;
    assert!(joint(&mixed).is_empty());
    let mut unsteady = flows(3, |_| 9, mbit(6.0), queueing);
    unsteady[1].lately = Some([mbit(6.0).0, mbit(9.0).0, mbit(6.0).0]);
    assert!(joint(&unsteady).is_empty());
    // A protocol's window comes in bursts, which queue for a moment.
    let mut bursts = flows(3, |_| 9, mbit(6.0), queueing);
    bursts[1].limit = Limit::AppWindow;
    assert!(joint(&bursts).is_empty());
    // Shares change while the total stands.
    let mut trading = flows(2, |_| 9, mbit(6.0), queueing);
    trading[0].lately = Some([6.0, 8.0, 4.0]);
    trading[1].lately = Some([6.0, 4.0, 8.0]);
    assert_eq!(joint(&trading).len(), 2);
}

#[test]
fn flows_that_have_just_begun_to_queue_are_not_told_yet() {
    let queueing = |flow: &mut Flow| (flow.is_queueing, flow.queue_stands) = (true, true);
    let mut young = flows(10, |_| 9, mbit(6.0), queueing);
    // One that joins the others does not matter.
    young[0].lately = None;
    let limits = |flows: &[Flow]| {
        joint(flows)
            .iter()
            .map(|(_, verdict)| verdict.limit)
            .collect::<Vec<_>>()
    };
    assert_eq!(limits(&young), [Limit::Bandwidth; 10]);
    young[1].lately = None;
    assert_eq!(limits(&young), [Limit::Unknown; 10]);
    young[2].queue_stands = false;
    assert!(limits(&young).is_empty());
}

#[test]
fn what_was_seen_counts_only_while_there_is_a_queue() {
    let seen = |queues: bool| {
        move |flow: &mut Flow| {
            flow.path.seen = Some(mbit(20.0));
            flow.is_queueing = queues;
            flow.lately = None;
        }
    };
    let known = |flows: &[Flow]| {
        joint(flows)
            .iter()
            .all(|(_, verdict)| verdict.limit == Limit::Bandwidth)
    };
    assert!(known(&flows(4, |_| 9, mbit(4.9), seen(true))));
    assert!(joint(&flows(4, |_| 9, mbit(4.9), seen(false))).is_empty());
    assert_eq!(joint(&flows(4, |_| 9, mbit(4.9), seen(true))).len(), 4);
}

#[test]
fn no_more_is_promised_than_the_others_leave() {
    let configured = |flow: &mut Flow| flow.path.configured = Some((Prefix::around(address(0)), mbit(100.0)));
    let mut some = flows(5, |cookie| cookie as u8, mbit(10.0), configured);
    some[4].limit = Limit::Turns;
    let promises = |flows: &[Flow], next: f64| {
        let mut alone = verdict(Limit::Rwnd, Some(mbit(next)));
        alone.ledger = vec![Ceiling {
            limit: Limit::Bandwidth,
            rate: mbit(100.0),
            formula: String::new(),
        }];
        together(flows, |_| Some(&alone))
    };
    let judged = promises(&some, 100.0);
    assert_eq!(judged.len(), 5);
    for (_, verdict) in judged {
        let next = verdict.next.unwrap();
        assert_eq!(
            (verdict.limit, next.limit, next.rate),
            (Limit::Rwnd, Limit::Bandwidth, mbit(60.0))
        );
        assert_eq!(verdict.ledger.len(), 1);
        assert_eq!(
            verdict.ledger[0].formula,
            "what 4 other connections leave of the path"
        );
    }
    // The next limit is lower than that: it stays the next.
    let (_, verdict) = &promises(&some, 20.0)[0];
    assert_eq!(
        verdict.next.as_ref().map(|next| (next.limit, next.rate)),
        Some((Limit::Sndbuf, mbit(20.0)))
    );
    // Nobody else is there.
    assert!(promises(&some[..1], 100.0).is_empty());
}

#[test]
fn only_windows_are_explained_by_the_sum() {
    let mut full = flows(4, |_| 9, mbit(25.0), on_link(mbit(100.0)));
    full[0].limit = Limit::RwndReader;
    full[1].limit = Limit::Loss;
    full[2].limit = Limit::Unknown;
    let judged = joint(&full);
    assert_eq!(judged.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_prefix_is_full_only_by_two_of_its_addresses() {
    let mut some = flows(3, |cookie| cookie as u8, mbit(10.0), |_| {});
    let full = |flows: &[Flow]| {
        let full = sums(flows).into_iter().filter(|sum| sum.is_full);
        let mut full: Vec<_> = full.map(|sum| (sum.prefix, sum.rate)).collect();
        full.sort_by_key(|(prefix, _)| *prefix);
        full
    };
    assert_eq!(sums(&some).len(), 4);
    assert!(full(&some).is_empty());
    some[0].limit = Limit::Bandwidth;
    assert_eq!(full(&some), [(Prefix::host(address(0)), mbit(10.0))]);
    some[1].limit = Limit::Policer;
    // With all that goes there.
    assert_eq!(full(&some)[0], (Prefix::around(address(0)), mbit(30.0)));
    assert_eq!(full(&some).len(), 3);
    some[1].direction = Direction::Receive;
    assert_eq!(full(&some).len(), 1);
}

fn members<'a>(flows: &'a [Flow], verdicts: &'a [Verdict]) -> Vec<Member<'a>> {
    flows
        .iter()
        .zip(verdicts)
        .map(|(flow, verdict)| Member {
            flow,
            verdict,
            process: Some("nginx"),
        })
        .collect()
}

#[test]
fn the_same_limit_to_one_prefix_is_one_finding() {
    let many = flows(37, |cookie| cookie as u8, mbit(1.0), |_| {});
    let verdicts = vec![verdict(Limit::Rwnd, Some(mbit(12.0))); 37];
    let found = findings(&members(&many, &verdicts));
    assert_eq!(found.len(), 1);
    let finding = &found[0];
    assert_eq!(
        (finding.kind, finding.limit),
        (FindingKind::SharedLimit, Limit::Rwnd)
    );
    assert_eq!(finding.connections.len(), 37);
    assert!((finding.gain().unwrap() - 12.0).abs() < 1e-9);
    assert_eq!(
        finding.proof,
        "37 connections of nginx to 203.0.113.0/24: rwnd, peer's window 65535 B ÷ 30.0 ms; 37.0 Mbit/s together. The fastest: The window is full."
    );
}

#[test]
fn no_more_is_promised_than_the_path_they_share_carries() {
    let configured = |flow: &mut Flow| flow.path.configured = Some((Prefix::around(address(0)), mbit(100.0)));
    let many = flows(10, |_| 9, mbit(5.0), configured);
    let verdicts = vec![verdict(Limit::Rwnd, Some(mbit(100.0))); 10];
    let found = findings(&members(&many, &verdicts));
    assert!((found[0].gain().unwrap() - 2.0).abs() < 1e-9);
}

#[test]
fn what_gives_most_comes_first_and_the_idle_are_silent() {
    let some = flows(4, |cookie| cookie as u8, mbit(1.0), |_| {});
    let verdicts = [
        verdict(Limit::App, Some(mbit(900.0))),
        verdict(Limit::Rwnd, Some(mbit(2.0))),
        verdict(Limit::Sndbuf, Some(mbit(9.0))),
        verdict(Limit::None, None),
    ];
    let found = findings(&members(&some, &verdicts));
    let limits: Vec<Limit> = found.iter().map(|finding| finding.limit).collect();
    assert_eq!(limits, [Limit::Sndbuf, Limit::Rwnd]);
}

#[test]
fn one_slow_among_equals_is_told_apart() {
    let mut some = flows(6, |_| 9, mbit(10.0), |_| {});
    some[2] = flow(2, 9, mbit(1.0));
    let mut verdicts = vec![verdict(Limit::Rwnd, None); 6];
    verdicts[2] = verdict(Limit::Loss, None);
    let siblings = |flows: &[Flow], verdicts: &[Verdict]| {
        let found = findings(&members(flows, verdicts));
        let slow = found
            .into_iter()
            .find(|finding| finding.kind == FindingKind::SlowSibling);
        slow.map(|finding| {
            (
                finding.limit,
                finding.connections.clone(),
                finding.gain().unwrap(),
                finding.proof,
            )
        })
    };
    let (limit, connections, gain, proof) = siblings(&some, &verdicts).unwrap();
    assert_eq!((limit, connections), (Limit::Loss, vec![2]));
    assert!((gain - 10.0).abs() < 1e-9);
    assert!(proof.starts_with("One of 6 connections of nginx to 203.0.113.9 makes 1.00 Mbit/s where its siblings make 10.0 Mbit/s."), "{proof}");
    // It has less to do, it was slow but once, or two are.
    verdicts[2] = verdict(Limit::App, None);
    assert_eq!(siblings(&some, &verdicts), None);
    verdicts[2] = verdict(Limit::Loss, None);
    some[2].lately = Some([mbit(1.0).0, mbit(9.0).0, mbit(9.0).0]);
    assert_eq!(siblings(&some, &verdicts), None);
    // It was slow, and is the fastest now.
    some[2] = flow(2, 9, mbit(90.0));
    some[2].lately = Some([mbit(1.0).0; LATELY]);
    assert_eq!(siblings(&some, &verdicts), None);
    some[2] = flow(2, 9, mbit(1.0));
    some[3] = flow(3, 9, mbit(1.0));
    assert_eq!(siblings(&some, &verdicts), None);
}

#[test]
fn a_window_that_is_the_same_over_different_round_trips_is_the_programs() {
    let window = |cookie: u64, host: u8, rtt_ms: u32| {
        let mut flow = flow(cookie, host, BytesPerSec(65_535.0 / (f64::from(rtt_ms) / 1e3)));
        flow.rtt = Some(Micros(rtt_ms * 1_000));
        flow
    };
    let verdicts = vec![verdict(Limit::AppWindow, None); 3];
    let fitted = |flows: &[Flow]| {
        let found = findings(&members(flows, &verdicts));
        found
            .into_iter()
            .find(|finding| finding.kind == FindingKind::AppWindow)
    };
    let finding = fitted(&[window(1, 1, 30), window(2, 2, 60), window(3, 3, 181)]).unwrap();
    assert_eq!(finding.connections.len(), 3);
    assert!(
        finding.proof.contains(
            "64.0 KiB per round trip, whether that takes 30.0 ms or 181 ms: a window of that size (HTTP/2"
        ),
        "{}",
        finding.proof
    );
    // One round-trip time tells a rate and a window not apart.
    assert_eq!(
        fitted(&[window(1, 1, 30), window(2, 2, 31), window(3, 3, 33)]),
        None
    );
}

prop_compose! {
    fn any_flow()(
        cookie in any::<u64>(), host in 0u8..4, limit in 0..Limit::ALL.len(), receive in any::<bool>(), rate in 0.0..1e12f64,
        lately in prop::option::of([0.0..1e12f64, 0.0..1e12f64, 0.0..1e12f64]), rtt in prop::option::of(1u32..), is_queueing in any::<bool>(),
        seen in prop::option::of(0.0..1e12f64), link in prop::option::of(0.0..1e12f64), configured in prop::option::of(0.0..1e12f64),
    ) -> Flow {
        Flow {
            limit: Limit::ALL[limit],
            direction: if receive { Direction::Receive } else { Direction::Send },
            lately,
            rtt: rtt.map(Micros),
            is_queueing,
            queue_stands: is_queueing,
            path: Path {
                configured: configured.map(|rate| (Prefix::around(address(host)), BytesPerSec(rate))),
                seen: seen.map(BytesPerSec),
                seen_around: None,
                link: link.map(|rate| Link { name: "eth0".into(), rate: BytesPerSec(rate) }),
            },
            ..flow(cookie, host, BytesPerSec(rate))
        }
    }
}

proptest! {
    #[test]
    fn any_flows_give_sound_verdicts_and_findings(flows in prop::collection::vec(any_flow(), 0..40), next in 0.0..1e12f64) {
        let alone = verdict(Limit::Rwnd, Some(BytesPerSec(next)));
        for (at, verdict) in together(&flows, |_| Some(&alone)) {
            prop_assert!(flows[at].is_windowed() || verdict.limit == alone.limit);
            prop_assert!(matches!(verdict.limit, Limit::Bandwidth | Limit::Unknown | Limit::Rwnd));
            prop_assert_eq!(verdict.limit == Limit::Unknown, verdict.confidence == 0.0);
            for ceiling in verdict.next.iter().chain(&verdict.ledger) {
                prop_assert!(ceiling.rate.0.is_finite() && ceiling.rate.0 >= 0.0);
            }
            prop_assert!(!verdict.proof.contains("NaN") && !verdict.proof.contains("inf"), "{}", verdict.proof);
        }
        for sum in sums(&flows) {
            prop_assert!(sum.rate.0.is_finite() && sum.rate.0 >= 0.0);
        }
        let verdicts: Vec<Verdict> = flows.iter().map(|flow| verdict(flow.limit, Some(BytesPerSec(next)))).collect();
        let found = findings(&members(&flows, &verdicts));
        let mut shared = 0;
        for finding in &found {
            let sum: f64 = finding.connections.iter().map(|at| flows[*at].rate.0).sum();
            prop_assert!((finding.rate.0 - sum).abs() <= sum * 1e-9);
            prop_assert!(finding.gain().is_none_or(|gain| gain.is_finite() && gain > 1.0), "{finding:?}");
            prop_assert!(!finding.proof.is_empty() && !finding.proof.contains("NaN"), "{}", finding.proof);
            if finding.kind == FindingKind::SharedLimit {
                shared += finding.connections.len();
            }
        }
        prop_assert_eq!(shared, flows.iter().filter(|flow| is_worth_telling(flow.limit)).count());
    }
}
