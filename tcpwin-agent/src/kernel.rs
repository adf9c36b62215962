//! What this kernel and these privileges allow, each with its reason and remedy; and so which source runs.
//!
//! [`Facts::gather`] asks the system, everything else is pure.

use std::fmt;

use rustix::thread::CapabilitySet;

pub use self::facts::{Bpf, Facts, Release, effective_capabilities};

mod facts;

/// A source that reads a live kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// The probes.
    Ebpf,
    /// Netlink sock_diag.
    SockDiag,
}

impl fmt::Display for SourceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ebpf => "ebpf",
            Self::SockDiag => "sock_diag",
        })
    }
}

/// What kind of thing is lacking: exit codes and advice differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LackKind {
    /// A capability of the process, or a policy over it: starting tcpwin differently helps.
    Privilege,
    /// The kernel itself, its version or build.
    Kernel,
}

/// Why something cannot be done, and what would change it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct Lack {
    /// What kind of thing is lacking.
    pub kind: LackKind,
    /// What is lacking, as a clause.
    pub reason: String,
    /// The next step, as a clause.
    pub remedy: String,
}

impl Lack {
    fn privilege(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            kind: LackKind::Privilege,
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }

    fn kernel(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            kind: LackKind::Kernel,
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

/// Something tcpwin can do here, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// What, in a few words.
    pub name: &'static str,
    /// What stands against it.
    pub lack: Option<Lack>,
}

/// The source to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which.
    pub kind: SourceKind,
    /// Why not the probes; `None` when they run.
    pub reason: Option<String>,
}

/// No source can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// The one asked for by name cannot run.
    #[error("source {source_kind} cannot run: {lack}")]
    Refused {
        /// Which.
        source_kind: SourceKind,
        /// Why.
        lack: Lack,
    },
    /// None can.
    #[error("no source of TCP sockets can run here. ebpf: {ebpf}. sock_diag: {sock_diag}")]
    NoSource {
        /// Why not the probes.
        ebpf: Lack,
        /// Why not the fallback.
        sock_diag: Lack,
    },
}

impl KernelError {
    /// What kind of thing is lacking.
    #[must_use]
    pub fn kind(&self) -> LackKind {
        match self {
            Self::Refused { lack, .. } => lack.kind,
            Self::NoSource { sock_diag, .. } => sock_diag.kind,
        }
    }
}

/// The source that runs here: the one asked for, or else the probes where they can, or else sock_diag.
///
/// # Errors
/// When the one asked for cannot run, or none can.
pub fn choose(requested: Option<SourceKind>) -> Result<Choice, KernelError> {
    decide(requested, &Facts::gather())
}

/// [`choose`] from facts.
///
/// # Errors
/// As [`choose`].
pub fn decide(requested: Option<SourceKind>, facts: &Facts) -> Result<Choice, KernelError> {
    let lack = |kind| match kind {
        SourceKind::Ebpf => facts.against_ebpf(),
        SourceKind::SockDiag => facts.against_sock_diag(),
    };
    if let Some(kind) = requested {
        return match lack(kind) {
            Some(lack) => Err(KernelError::Refused {
                source_kind: kind,
                lack,
            }),
            None => Ok(Choice {
                kind,
                reason: (kind == SourceKind::SockDiag).then(|| "sock_diag was asked for by name".to_owned()),
            }),
        };
    }
    match (lack(SourceKind::Ebpf), lack(SourceKind::SockDiag)) {
        (None, _) => Ok(Choice {
            kind: SourceKind::Ebpf,
            reason: None,
        }),
        (Some(ebpf), None) => Ok(Choice {
            kind: SourceKind::SockDiag,
            reason: Some(format!("the probes cannot run: {ebpf}")),
        }),
        (Some(ebpf), Some(sock_diag)) => Err(KernelError::NoSource { ebpf, sock_diag }),
    }
}

/// Everything that can be lacking, in the order a person should care.
#[must_use]
pub fn capabilities(facts: &Facts) -> Vec<Capability> {
    let can = |name, lack| Capability { name, lack };
    vec![
        can("kernel probes", facts.against_ebpf()),
        can("sock_diag", facts.against_sock_diag()),
        can("other network namespaces", facts.against_namespaces()),
        can("processes of other users", facts.against_owners()),
    ]
}

/// Why these capabilities do not let a process into other network namespaces.
#[must_use]
pub fn against_namespaces(capabilities: CapabilitySet) -> Option<Lack> {
    (!capabilities.contains(CapabilitySet::SYS_ADMIN)).then(|| {
        Lack::privilege(
            "other network namespaces may not be entered",
            "run as root, or grant CAP_SYS_ADMIN",
        )
    })
}

impl Facts {
    fn has(&self, capability: CapabilitySet) -> bool {
        self.capabilities.contains(capability)
    }

    /// Why the probes cannot run.
    #[must_use]
    pub fn against_ebpf(&self) -> Option<Lack> {
        self.against_release()
            .or_else(|| self.against_bpf_privilege())
            .or_else(|| self.against_bpf_call())
            .or_else(|| self.against_btf())
    }

    /// tcpwin is tried from 5.10 on: ring buffer (5.8), socket iterators and `tp_btf` helpers (5.10).
    fn against_release(&self) -> Option<Lack> {
        let release = self.release?;
        (release < Release(5, 10)).then(|| {
            Lack::kernel(
                format!("kernel {} is older than 5.10", self.release_text),
                "run a newer kernel",
            )
        })
    }

    fn against_bpf_privilege(&self) -> Option<Lack> {
        if self.has(CapabilitySet::SYS_ADMIN) {
            return self.against_memlock();
        }
        let missing: Vec<&str> = [
            (CapabilitySet::BPF, "CAP_BPF"),
            (CapabilitySet::PERFMON, "CAP_PERFMON"),
        ]
        .into_iter()
        .filter(|(capability, _)| !self.has(*capability))
        .map(|(_, name)| name)
        .collect();
        if missing.is_empty() {
            return self.against_memlock();
        }
        Some(Lack::privilege(
            format!("the process lacks {}", missing.join(" and ")),
            "run as root, or grant CAP_BPF and CAP_PERFMON",
        ))
    }

    /// Before 5.11 (`bpf_map_charge_init`) maps count against RLIMIT_MEMLOCK.
    fn against_memlock(&self) -> Option<Lack> {
        let counted = self.release.is_some_and(|release| release < Release(5, 11));
        let short = self.memlock.is_some_and(|bytes| bytes < facts::MEMLOCK_NEEDED);
        (counted && short && !self.has(CapabilitySet::SYS_RESOURCE)).then(|| {
            Lack::privilege(
                format!(
                    "kernel {} counts maps against RLIMIT_MEMLOCK, which is too low to hold them",
                    self.release_text
                ),
                "grant CAP_SYS_RESOURCE, or raise the limit (LimitMEMLOCK=infinity)",
            )
        })
    }

    fn against_bpf_call(&self) -> Option<Lack> {
        match self.bpf {
            Bpf::Allowed => None,
            Bpf::Missing => Some(Lack::kernel(
                "the kernel has no bpf() system call",
                "run a kernel built with CONFIG_BPF_SYSCALL",
            )),
            Bpf::Denied if self.lockdown.as_deref() == Some("confidentiality") => Some(Lack::privilege(
                "the kernel refuses BPF programs (lockdown=confidentiality)",
                "boot with lockdown=integrity or without lockdown",
            )),
            Bpf::Denied => Some(Lack::privilege(
                "the kernel refuses BPF programs though the capabilities are there: a seccomp filter or a security \
                 module forbids bpf()",
                "allow bpf() in the container's seccomp profile or the security module's policy",
            )),
            Bpf::Failed(errno) => Some(Lack::kernel(
                format!("the kernel refuses a trivial BPF program (errno {errno})"),
                "run a kernel with BPF tracing programs (CONFIG_BPF_EVENTS)",
            )),
        }
    }

    fn against_btf(&self) -> Option<Lack> {
        (!self.btf).then(|| {
            Lack::kernel(
                "/sys/kernel/btf/vmlinux is not there: the kernel does not tell where its fields are",
                "run a kernel built with CONFIG_DEBUG_INFO_BTF, or mount /sys",
            )
        })
    }

    /// Why the fallback cannot run.
    #[must_use]
    pub fn against_sock_diag(&self) -> Option<Lack> {
        let cause = self.sock_diag.as_ref()?;
        Some(Lack::kernel(
            format!("NETLINK_SOCK_DIAG cannot be asked for TCP sockets ({cause})"),
            "load the module tcp_diag (modprobe tcp_diag), and allow netlink sockets in the seccomp profile",
        ))
    }

    /// Why sockets of other network namespaces are not seen by sock_diag and not seeded by the probes.
    #[must_use]
    pub fn against_namespaces(&self) -> Option<Lack> {
        against_namespaces(self.capabilities)
    }

    /// Why sockets of other users' processes have no name.
    #[must_use]
    pub fn against_owners(&self) -> Option<Lack> {
        let enough = CapabilitySet::SYS_PTRACE | CapabilitySet::DAC_READ_SEARCH;
        let ways = [enough, CapabilitySet::SYS_PTRACE | CapabilitySet::DAC_OVERRIDE];
        (!ways.into_iter().any(|way| self.has(way))).then(|| {
            Lack::privilege(
                "open files of other users' processes may not be listed",
                "run as root, or grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
            )
        })
    }
}

#[cfg(test)]
mod tests;
