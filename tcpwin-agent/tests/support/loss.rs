//! Loss on the way to a socket, made by a socket filter: what it refuses TCP never sees, as if the path had lost it.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::TcpStream;
use std::os::fd::AsRawFd as _;

use libc::{BPF_ABS, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};

/// `SKF_AD_OFF + SKF_AD_RANDOM`: a random word instead of the packet's.
const RANDOM: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;
/// A random word is at least this one time in four.
const ONE_IN_FOUR: u32 = 0xc000_0000;

/// From now on one segment in four does not reach the socket.
pub fn begin(socket: &TcpStream) {
    let step = |code: u32, jt: u8, jf: u8, k: u32| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, RANDOM),
        step(BPF_JMP | BPF_JGE | BPF_K, 0, 1, ONE_IN_FOUR),
        step(BPF_RET | BPF_K, 0, 0, 0),
        step(BPF_RET | BPF_K, 0, 0, u32::MAX),
    ];
    let program = sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    set(socket, libc::SO_ATTACH_FILTER, &program);
}

/// Everything reaches the socket again.
pub fn end(socket: &TcpStream) {
    set(socket, libc::SO_DETACH_FILTER, &0i32);
}

fn set<T>(socket: &TcpStream, option: i32, value: &T) {
    // SAFETY: `value` is of the option's type, and the kernel copies it.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as u32,
        )
    };
    assert_eq!(outcome, 0, "setsockopt: {}", std::io::Error::last_os_error());
}
