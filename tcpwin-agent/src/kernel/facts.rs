//! Facts of the running system, asked once at the start.

use std::io;
use std::path::Path;

use rustix::process::{Resource, Rlimit};
use rustix::thread::CapabilitySet;

/// What the programs' maps take before 5.11, bytes: ring buffer, look-ups, the slots of a small host.
pub const MEMLOCK_NEEDED: u64 = 64 << 20;

/// Major and minor number of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u32, pub u32);

impl Release {
    /// `6.1.0-18-cloud-amd64` → 6.1.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(|letter: char| !letter.is_ascii_digit());
        Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

/// What became of loading a program of two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bpf {
    /// It was taken.
    Allowed,
    /// EPERM or EACCES.
    Denied,
    /// ENOSYS: no such system call.
    Missing,
    /// Another `errno`.
    Failed(i32),
}

/// What the system says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `uname -r`.
    pub release_text: String,
    /// The same as numbers, where it has them.
    pub release: Option<Release>,
    /// Effective capabilities of the process.
    pub capabilities: CapabilitySet,
    /// `/sys/kernel/btf/vmlinux` can be read.
    pub btf: bool,
    /// If BPF programs are taken at all.
    pub bpf: Bpf,
    /// The active mode of `/sys/kernel/security/lockdown`, where it is told.
    pub lockdown: Option<String>,
    /// Hard limit of RLIMIT_MEMLOCK, bytes; `None` for none.
    pub memlock: Option<u64>,
    /// Why `NETLINK_SOCK_DIAG` cannot be asked; `None` when it can.
    pub sock_diag: Option<String>,
}

impl Facts {
    /// Asks the running system.
    #[must_use]
    pub fn gather() -> Self {
        let release_text = rustix::system::uname().release().to_string_lossy().into_owned();
        let release = Release::parse(&release_text);
        if release.is_some_and(|release| release < Release(5, 11)) {
            raise_memlock();
        }
        Self {
            release,
            release_text,
            capabilities: effective_capabilities(),
            btf: std::fs::File::open("/sys/kernel/btf/vmlinux").is_ok(),
            bpf: try_bpf(),
            lockdown: std::fs::read_to_string("/sys/kernel/security/lockdown")
                .ok()
                .and_then(|modes| lockdown(&modes)),
            memlock: rustix::process::getrlimit(Resource::Memlock).maximum,
            sock_diag: try_sock_diag().err().map(|cause| cause.to_string()),
        }
    }
}

/// Before 5.11 programs and maps count against RLIMIT_MEMLOCK, those of the user's other processes too. Refused to some; what is
/// loaded then says so.
fn raise_memlock() {
    let all = Rlimit {
        current: None,
        maximum: None,
    };
    let _ = rustix::process::setrlimit(Resource::Memlock, all);
}

/// Effective capabilities of the process.
#[must_use]
pub fn effective_capabilities() -> CapabilitySet {
    rustix::thread::capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective)
}

/// `none [integrity] confidentiality` → `integrity`.
pub(super) fn lockdown(modes: &str) -> Option<String> {
    let (_, rest) = modes.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// The part of `union bpf_attr` that BPF_PROG_LOAD has read since 3.18.
#[repr(C)]
struct ProgLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
}

/// Loads `r0 = 0; exit` as a raw tracepoint program: the least that needs the same privileges as ours, and is never
/// attached.
fn try_bpf() -> Bpf {
    const BPF_PROG_LOAD: libc::c_int = 5;
    const BPF_PROG_TYPE_RAW_TRACEPOINT: u32 = 17;
    /// BPF_ALU64 | BPF_MOV | BPF_K and BPF_JMP | BPF_EXIT.
    const PROGRAM: [[u8; 8]; 2] = [[0xb7, 0, 0, 0, 0, 0, 0, 0], [0x95, 0, 0, 0, 0, 0, 0, 0]];
    let attributes = ProgLoad {
        prog_type: BPF_PROG_TYPE_RAW_TRACEPOINT,
        insn_cnt: PROGRAM.len() as u32,
        insns: PROGRAM.as_ptr() as u64,
        license: c"GPL".as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log_buf: 0,
        kern_version: 0,
        prog_flags: 0,
    };
    // SAFETY: bpf(2) reads `attributes` (of the size given) and what its pointers lead to, all of which outlive the
    // call; it writes nothing, for there is no log.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            BPF_PROG_LOAD,
            &raw const attributes,
            size_of::<ProgLoad>(),
        )
    };
    if let Ok(fd @ 0..) = i32::try_from(fd) {
        // SAFETY: the descriptor is new and nobody else's.
        drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(fd) });
        return Bpf::Allowed;
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Bpf::Denied,
        Some(libc::ENOSYS) => Bpf::Missing,
        errno => Bpf::Failed(errno.unwrap_or(0)),
    }
}

/// If TCP sockets can be asked for: opens the socket; a kernel that lacks `tcp_diag` says so to the first question,
/// and then `/proc/net/tcp` is all there is.
fn try_sock_diag() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink};
    if !Path::new("/proc/self/ns/net").exists() {
        return Err(io::Error::other("/proc is not mounted"));
    }
    rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    Ok(())
}
