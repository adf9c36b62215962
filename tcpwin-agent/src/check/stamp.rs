//! When bytes came, by the kernel's own stamps (Documentation/networking/timestamping.rst): a process that is woken late does not
//! change them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::units::Instant;

/// Room for `struct scm_timestamping` (three times of 16 bytes) and its header, aligned as one.
type Control = [u64; 16];

/// Asks for stamps of what comes in.
pub fn ask_for(socket: &OwnedFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the descriptor is ours, and the option is an int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of_val(&flags) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads, and says when the last of the bytes came, where the kernel does.
pub fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Result<(usize, Option<Instant>), Errno> {
    let mut control: Control = [0; 16];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: a msghdr of zeros is valid; its pointers lead to locals that live through the call, with their lengths.
    let (count, stamp) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>() as _;
        let count = libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0);
        (count, stamp(&message))
    };
    match usize::try_from(count) {
        Ok(count) => Ok((count, stamp.and_then(monotonic))),
        Err(_) => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// The first of the three times: the kernel's, on CLOCK_REALTIME.
///
/// # Safety
/// `message` is one that `recvmsg` has filled, and its control buffer is alive.
unsafe fn stamp(message: &libc::msghdr) -> Option<libc::timespec> {
    // SAFETY: the macros walk within `msg_controllen`, and the data of this kind begins with a timespec.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(found) = header.as_ref() {
            if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SCM_TIMESTAMPING {
                return Some(ptr::read_unaligned(libc::CMSG_DATA(header).cast()));
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// On the clock that the rest is on: as long ago as it is on the other one.
fn monotonic(stamp: libc::timespec) -> Option<Instant> {
    if stamp.tv_sec == 0 {
        return None;
    }
    let (wall, now) = (
        clock_gettime(ClockId::Realtime),
        clock_gettime(ClockId::Monotonic),
    );
    let nanos = |time: &Timespec| i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    let came = i128::from(stamp.tv_sec) * 1_000_000_000 + i128::from(stamp.tv_nsec);
    u64::try_from(nanos(&now) - (nanos(&wall) - came))
        .ok()
        .map(Instant)
}
