//! The hooks: which program goes where, what stands in for it, and what is lost without it.

use super::btf::Btf;

/// How a program attaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `tp_btf`: a tracepoint with typed arguments.
    Tracepoint,
    /// `fexit`: return of a function.
    Exit,
}

/// A program and its hook.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    /// Name of the program in the object.
    pub program: &'static str,
    /// Name of the tracepoint or function.
    pub target: &'static str,
    /// How it attaches.
    pub kind: Kind,
    /// Only where this tracepoint is absent.
    pub instead_of: Option<&'static str>,
    /// Not where this tracepoint is there, which tells the same and more.
    pub unless: Option<&'static str>,
    /// What is lost without it, in words; `None` for a hook without which the source is of no use.
    pub loss: Option<&'static str>,
}

const fn tracepoint(program: &'static str, target: &'static str, loss: Option<&'static str>) -> Hook {
    Hook {
        program,
        target,
        kind: Kind::Tracepoint,
        instead_of: None,
        unless: None,
        loss,
    }
}

/// All hooks, in the order they attach: first what closes a slot again, last what only adds to it.
pub(super) const HOOKS: &[Hook] = &[
    tracepoint("destroy_sock", "tcp_destroy_sock", None),
    tracepoint("set_state", "inet_sock_set_state", None),
    tracepoint("probe", "tcp_probe", None),
    tracepoint(
        "send_length",
        "sock_send_length",
        Some("calls of the program that send are not counted; budget starts late"),
    ),
    Hook {
        program: "sendmsg",
        target: "tcp_sendmsg",
        kind: Kind::Exit,
        instead_of: Some("sock_send_length"),
        unless: None,
        loss: Some("calls of the program that send are not counted; budget starts late"),
    },
    Hook {
        program: "sendpage",
        target: "tcp_sendpage",
        kind: Kind::Exit,
        instead_of: Some("sock_send_length"),
        unless: None,
        loss: Some("sendfile and splice are not counted"),
    },
    tracepoint(
        "recv_length",
        "sock_recv_length",
        Some("calls of the program that receive are not counted"),
    ),
    Hook {
        unless: Some("sock_recv_length"),
        ..tracepoint(
            "rcv_space_adjust",
            "tcp_rcv_space_adjust",
            Some("received bytes are late after reordering"),
        )
    },
    tracepoint(
        "retransmit_skb",
        "tcp_retransmit_skb",
        Some("retransmits are not told by kind"),
    ),
    tracepoint(
        "retransmit_synack",
        "tcp_retransmit_synack",
        Some("SYN-ACK retransmits are not counted"),
    ),
    tracepoint(
        "cong_state_set",
        "tcp_cong_state_set",
        Some("cwnd falls are told by the first retransmit in recovery"),
    ),
    tracepoint(
        "send_reset",
        "tcp_send_reset",
        Some("resets sent are not counted"),
    ),
    tracepoint(
        "receive_reset",
        "tcp_receive_reset",
        Some("resets received are not counted"),
    ),
];

impl Hook {
    /// If this kernel wants the program at all: substitutes only where the better hook is absent.
    pub(super) fn is_wanted(&self, btf: &Btf<'_>) -> bool {
        let better = [self.instead_of, self.unless];
        !better
            .into_iter()
            .flatten()
            .any(|better| btf.has_tracepoint(better))
    }

    /// If the kernel has the place to attach to.
    pub(super) fn exists(&self, btf: &Btf<'_>) -> bool {
        match self.kind {
            Kind::Tracepoint => btf.has_tracepoint(self.target),
            Kind::Exit => btf.has_function(self.target),
        }
    }

    /// If another program does its work on this kernel.
    pub(super) fn has_substitute(&self) -> bool {
        HOOKS.iter().any(|other| other.instead_of == Some(self.target))
    }
}
