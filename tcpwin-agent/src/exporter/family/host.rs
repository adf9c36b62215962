//! What is told of the host beside its connections.

use super::{Family, Kind, Reading, Unit, Value, fact, labelled, one};
use crate::snapshot::Interface;

/// Interfaces told of: a host of containers has thousands.
const INTERFACES: usize = 8;

/// Interfaces with a queue, and its discipline.
fn queues(reading: &Reading) -> impl Iterator<Item = (&Interface, &str)> {
    let interfaces = reading.snapshot.facts.interfaces.iter();
    let queues = interfaces.filter_map(|interface| Some((interface, interface.qdisc.as_deref()?)));
    queues.take(INTERFACES)
}

pub(super) static FAMILIES: [Family; 19] = [
    Family {
        name: "tcpwin_listeners",
        help: "Listening sockets of every network namespace that can be entered",
        unit: Unit::Count("sockets"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "sum by (instance) (tcpwin_listeners)",
        read: |reading, samples| {
            let queues = reading.snapshot.facts.accept_queues;
            samples.extend(queues.map(|queues| one(Value::Count(queues.listeners))));
        },
    },
    Family {
        name: "tcpwin_accept_queue_connections",
        help: "Connections that wait for accept, all listeners together",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "max_over_time(tcpwin_accept_queue_connections[5m])",
        read: |reading, samples| {
            let queues = reading.snapshot.facts.accept_queues;
            samples.extend(queues.map(|queues| one(Value::Count(queues.waiting))));
        },
    },
    Family {
        name: "tcpwin_accept_queues_full",
        help: "Listeners whose accept queue is full: what comes is dropped",
        unit: Unit::Count("sockets"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_accept_queues_full > 0",
        read: |reading, samples| {
            let queues = reading.snapshot.facts.accept_queues;
            samples.extend(queues.map(|queues| one(Value::Count(queues.full))));
        },
    },
    Family {
        name: "tcpwin_accept_queue_fullest_ratio",
        help: "Fill of the fullest accept queue, as a share of its backlog; above 1 it is full",
        unit: Unit::Count("ratio"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "max_over_time(tcpwin_accept_queue_fullest_ratio[5m]) > 0.8",
        read: |reading, samples| {
            let queues = reading.snapshot.facts.accept_queues;
            samples.extend(queues.map(|queues| one(Value::Real(queues.fullest))));
        },
    },
    Family {
        name: "tcpwin_listen_overflows",
        help: "Connections refused since an accept queue was full (ListenOverflows of the agent's network namespace)",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_listen_overflows_total[5m])",
        read: fact!(listen_overflows),
    },
    Family {
        name: "tcpwin_listen_drops",
        help: "SYNs dropped by listeners for any reason (ListenDrops of the agent's network namespace)",
        unit: Unit::Count("SYNs"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_listen_drops_total[5m])",
        read: fact!(listen_drops),
    },
    Family {
        name: "tcpwin_fastopen_connections",
        help: "TCP Fast Open, by which end opened the connection and what came of the SYN's data; requested: a cookie \
               asked for instead (TCPFastOpen* of the agent's network namespace)",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &["origin", "outcome"],
        bound: 6,
        example: "sum by (origin, outcome) (rate(tcpwin_fastopen_connections_total[5m]))",
        read: |reading, samples| {
            let Some(counts) = reading.snapshot.facts.fastopen else {
                return;
            };
            for (origin, outcome, count) in [
                ("connect", "taken", counts.active),
                ("connect", "failed", counts.active_failed),
                ("accept", "requested", counts.cookies_requested),
                ("accept", "taken", counts.passive),
                ("accept", "failed", counts.passive_failed),
                ("accept", "overflow", counts.listen_overflows),
            ] {
                samples.push(labelled([origin, outcome], Value::Count(count)));
            }
        },
    },
    Family {
        name: "tcpwin_fastopen_blackholes",
        help: "Times Fast Open was turned off since a path swallows its data (TCPFastOpenBlackhole)",
        unit: Unit::Count("times"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "increase(tcpwin_fastopen_blackholes_total[1d])",
        read: |reading, samples| {
            let counts = reading.snapshot.facts.fastopen;
            samples.extend(counts.map(|counts| one(Value::Count(counts.blackholes))));
        },
    },
    Family {
        name: "tcpwin_windows_closed",
        help: "Times a socket of this host told its peer to stop sending, since its program does not read \
               (TCPToZeroWindowAdv of the agent's network namespace)",
        unit: Unit::Count("times"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_windows_closed_total[5m])",
        read: fact!(windows_closed),
    },
    Family {
        name: "tcpwin_zero_window_dropped_segments",
        help: "Segments dropped that came though the window was closed (TCPZeroWindowDrop of the agent's network namespace)",
        unit: Unit::Count("segments"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_zero_window_dropped_segments_total[5m])",
        read: fact!(zero_window_drops),
    },
    Family {
        name: "tcpwin_tcp_memory",
        help: "Memory of all TCP sockets",
        unit: Unit::Bytes,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_tcp_memory_bytes / tcpwin_tcp_memory_limit_bytes",
        read: |reading, samples| {
            let memory = reading.snapshot.facts.memory;
            samples.extend(memory.map(|memory| one(Value::Count(memory.used_bytes))));
        },
    },
    Family {
        name: "tcpwin_tcp_memory_pressure",
        help: "Memory of TCP above which buffers stop growing (net.ipv4.tcp_mem)",
        unit: Unit::Bytes,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_tcp_memory_bytes > tcpwin_tcp_memory_pressure_bytes",
        read: |reading, samples| {
            let memory = reading.snapshot.facts.memory;
            samples.extend(memory.map(|memory| one(Value::Count(memory.pressure_bytes))));
        },
    },
    Family {
        name: "tcpwin_tcp_memory_limit",
        help: "Memory of TCP above which it is refused more (net.ipv4.tcp_mem)",
        unit: Unit::Bytes,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_tcp_memory_bytes / tcpwin_tcp_memory_limit_bytes",
        read: |reading, samples| {
            let memory = reading.snapshot.facts.memory;
            samples.extend(memory.map(|memory| one(Value::Count(memory.limit_bytes))));
        },
    },
    Family {
        name: "tcpwin_tcp_memory_pressures",
        help: "Times TCP's memory came under pressure (TCPMemoryPressures)",
        unit: Unit::Count("times"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "increase(tcpwin_tcp_memory_pressures_total[1h])",
        read: fact!(memory_pressures),
    },
    Family {
        name: "tcpwin_softnet_dropped_packets",
        help: "Received packets dropped since net.core.netdev_max_backlog was full, all CPUs",
        unit: Unit::Count("packets"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_softnet_dropped_packets_total[5m])",
        read: fact!(softnet_dropped),
    },
    Family {
        name: "tcpwin_softnet_squeezes",
        help: "Times a CPU had more packets than net.core.netdev_budget lets it take at once, all CPUs",
        unit: Unit::Count("times"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_softnet_squeezes_total[5m])",
        read: fact!(softnet_squeezed),
    },
    Family {
        name: "tcpwin_interface_qdisc",
        help: "Root queueing discipline of the interfaces that have one, in the agent's network namespace; always 1. Of many, \
               hardware and those that drop most",
        unit: Unit::Count("interfaces"),
        kind: Kind::Info,
        labels: &["interface", "qdisc"],
        bound: INTERFACES,
        example: "count by (qdisc) (tcpwin_interface_qdisc_info)",
        read: |reading, samples| {
            for (interface, qdisc) in queues(reading) {
                samples.push(labelled([&interface.name, qdisc], Value::Count(1)));
            }
        },
    },
    Family {
        name: "tcpwin_interface_dropped_packets",
        help: "Packets that those interfaces dropped, the ones that their queueing discipline dropped included",
        unit: Unit::Count("packets"),
        kind: Kind::Counter,
        labels: &["interface", "direction"],
        bound: 2 * INTERFACES,
        example: r#"rate(tcpwin_interface_dropped_packets_total{direction="send"}[5m])"#,
        read: |reading, samples| {
            for (interface, _) in queues(reading) {
                let (sent, received) = (interface.transmit_dropped, interface.receive_dropped);
                samples.push(labelled([&interface.name, "send"], Value::Count(sent)));
                samples.push(labelled([&interface.name, "receive"], Value::Count(received)));
            }
        },
    },
    Family {
        name: "tcpwin_softirq_busiest_ratio",
        help: "Share of its time that the busiest CPU spent in softirq lately",
        unit: Unit::Count("ratio"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_softirq_busiest_ratio > 0.8",
        read: |reading, samples| {
            let share = reading.snapshot.facts.softirq_busiest;
            samples.extend(share.map(|share| one(Value::Real(share))));
        },
    },
];
