//! What the kernel's own statistics add to each run of a program: measured with a program that does nothing.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use anyhow::{Context as _, Result};
use aya::programs::loaded_programs;
use aya_obj::btf::{Btf, BtfKind};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::bench::probes::Cost;

/// Commands of bpf(2), include/uapi/linux/bpf.h.
const BPF_PROG_LOAD: libc::c_int = 5;
const BPF_RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const BPF_PROG_TYPE_TRACING: u32 = 26;
const BPF_TRACE_RAW_TP: u32 = 23;
/// Its name, as long as the kernel takes.
const NAME: &[u8; 16] = b"tcpwin_empty\0\0\0\0";
/// `r0 = 0; exit`.
const INSTRUCTIONS: [u64; 2] = [0xb7, 0x95];

/// `union bpf_attr` as BPF_PROG_LOAD takes it, up to what is set.
#[repr(C)]
#[derive(Default)]
struct Load {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
    prog_btf_fd: u32,
    func_info_rec_size: u32,
    func_info: u64,
    func_info_cnt: u32,
    line_info_rec_size: u32,
    line_info: u64,
    line_info_cnt: u32,
    attach_btf_id: u32,
    attach_prog_fd: u32,
    pad: u32,
}

/// `union bpf_attr` as BPF_RAW_TRACEPOINT_OPEN takes it.
#[repr(C)]
#[derive(Default)]
struct Open {
    name: u64,
    prog_fd: u32,
    pad: u32,
}

/// The program that does nothing, at `tcp_probe` as long as this lives.
pub struct Floor {
    _link: OwnedFd,
    _program: OwnedFd,
}

impl Floor {
    /// Attaches it.
    pub fn attach() -> Result<Self> {
        // Kernels before 5.11 count programs as locked memory; where the limit may not be raised, newer ones do not ask.
        let unlimited = Rlimit {
            current: None,
            maximum: None,
        };
        let _ = setrlimit(Resource::Memlock, unlimited);
        let btf = Btf::from_sys_fs().context("cannot read the kernel's BTF")?;
        let attach_btf_id = btf
            .id_by_type_name_kind("btf_trace_tcp_probe", BtfKind::Typedef)
            .context("the kernel has no tracepoint tcp_probe")?;
        let load = Load {
            prog_type: BPF_PROG_TYPE_TRACING,
            insn_cnt: 2,
            insns: INSTRUCTIONS.as_ptr() as u64,
            license: c"GPL".as_ptr() as u64,
            prog_name: *NAME,
            expected_attach_type: BPF_TRACE_RAW_TP,
            attach_btf_id,
            ..Load::default()
        };
        let program = bpf(BPF_PROG_LOAD, &load).context("cannot load an empty program")?;
        let open = Open {
            prog_fd: program.as_raw_fd().cast_unsigned(),
            ..Open::default()
        };
        let link = bpf(BPF_RAW_TRACEPOINT_OPEN, &open).context("cannot attach an empty program")?;
        Ok(Self {
            _link: link,
            _program: program,
        })
    }

    /// Its cost so far: all of it the statistics' own, but for the call and two instructions.
    pub fn cost(&self) -> Cost {
        let name = NAME.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut cost = Cost::default();
        // Programs come and go while we look.
        for program in loaded_programs()
            .flatten()
            .filter(|program| program.name() == name)
        {
            cost.runs += program.run_count();
            cost.ns += program.run_time().as_nanos() as u64;
        }
        cost
    }
}

fn bpf<T>(command: libc::c_int, attr: &T) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads the live attribute of the size told, and what its pointers lead to: statics.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attr), size_of::<T>()) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both commands answer a descriptor that is ours.
    Ok(unsafe { OwnedFd::from_raw_fd(answer as i32) })
}
