//! On what Debian's kernels 5.10 and 6.12 say after three connections with TCP Fast Open and six more to a listener of
//! backlog 1 that does not accept.

use super::*;

const NETSTAT: [&str; 2] = [
    include_str!("texts/netstat-5.10"),
    include_str!("texts/netstat-6.12"),
];
const SOCKSTAT: [&str; 2] = [
    include_str!("texts/sockstat-5.10"),
    include_str!("texts/sockstat-6.12"),
];
const TCP_MEM: [&str; 2] = [
    include_str!("texts/tcp_mem-5.10"),
    include_str!("texts/tcp_mem-6.12"),
];
const SOFTNET: [&str; 2] = [
    include_str!("texts/softnet_stat-5.10"),
    include_str!("texts/softnet_stat-6.12"),
];

#[test]
fn counters_are_found_by_name() {
    let counted = NETSTAT.map(|text| {
        let netstat = Netstat(text.to_owned());
        [
            "ListenOverflows",
            "ListenDrops",
            "TCPMemoryPressures",
            "TCPFastOpenActive",
            "TCPFastOpenPassive",
            "TCPFastOpenCookieReqd",
            "TCPPLBRehash",
            "InOctets",
        ]
        .map(|name| netstat.tcp_ext(name))
    });
    // 5.10 does not know path load balancing; octets are IpExt's.
    assert_eq!(
        counted[0],
        [Some(4), Some(4), Some(0), Some(2), Some(2), Some(1), None, None]
    );
    assert_eq!(
        counted[1],
        [
            Some(8),
            Some(8),
            Some(0),
            Some(2),
            Some(2),
            Some(1),
            Some(0),
            None
        ]
    );
}

#[test]
fn cut_texts_tell_nothing() {
    for text in [
        "",
        "TcpExt:",
        "TcpExt: ListenDrops\n",
        "TcpExt: A ListenDrops\nTcpExt: 1\n",
    ] {
        assert_eq!(Netstat(text.to_owned()).tcp_ext("ListenDrops"), None, "{text}");
    }
    assert_eq!(Softnet::parse(""), None);
    assert_eq!(Softnet::parse("0001 0002\n"), None);
    assert_eq!(TcpMemory::parse("TCP: inuse 1 mem\n", "1 2 3\n", 4096), None);
    assert_eq!(TcpMemory::parse("TCP: inuse 1 mem 4\n", "1 2\n", 4096), None);
}

#[test]
fn memory_is_told_in_bytes() {
    let told = [0, 1].map(|at| TcpMemory::parse(SOCKSTAT[at], TCP_MEM[at], 4096).unwrap());
    let pages = |used: u64, pressure: u64, limit: u64| TcpMemory {
        used: used * 4096,
        pressure: pressure * 4096,
        limit: limit * 4096,
    };
    assert_eq!(told, [pages(4, 7_400, 11_100), pages(0, 7_216, 10_824)]);
}

#[test]
fn cpus_are_summed() {
    let told = SOFTNET.map(|text| Softnet::parse(text).map(|sum| (sum.dropped, sum.squeezed)));
    assert_eq!(told, [Some((0, 2)), Some((0, 4))]);
    let hexadecimal = "0000001a 00000003 0000000a\n05806540 00000001 00000006 00000000\n";
    let sum = Softnet {
        dropped: 4,
        squeezed: 16,
    };
    assert_eq!(Softnet::parse(hexadecimal), Some(sum));
}
