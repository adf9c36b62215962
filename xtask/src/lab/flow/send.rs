//! The system calls that send.

use std::fs::File;
use std::io::{IoSlice, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};
use std::{io, ptr};

use anyhow::{Context, Result};
use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustix::pipe::{SpliceFlags, pipe, splice};

use super::pattern::Method;

/// Parts of a writev and messages of a sendmmsg.
const PARTS: usize = 4;
/// What a pipe holds.
const PIPE_BYTES: usize = 65_536;

/// Sends data by one method.
pub struct Sender {
    data: Vec<u8>,
    way: Way,
}

enum Way {
    Write,
    Record,
    Writev,
    Sendmmsg,
    Sendfile(File),
    Splice {
        read: OwnedFd,
        write: OwnedFd,
        inside: usize,
    },
}

impl Sender {
    /// A sender of at most `bytes` a call.
    pub fn new(method: Method, bytes: usize) -> Result<Self> {
        Self::of(method, vec![b'x'; bytes])
    }

    /// A sender of this data or its beginning.
    pub fn of(method: Method, data: Vec<u8>) -> Result<Self> {
        let way = match method {
            Method::Write => Way::Write,
            Method::Record => Way::Record,
            Method::Writev => Way::Writev,
            Method::Sendmmsg => Way::Sendmmsg,
            Method::Sendfile => {
                let file =
                    memfd_create("tcpwin-lab", MemfdFlags::CLOEXEC).context("cannot make a memory file")?;
                let mut file = File::from(file);
                file.write_all(&data).context("cannot fill a memory file")?;
                Way::Sendfile(file)
            }
            Method::Splice => {
                let (read, write) = pipe().context("cannot create a pipe")?;
                Way::Splice {
                    read,
                    write,
                    inside: 0,
                }
            }
        };
        Ok(Self { data, way })
    }

    /// One call that sends `bytes` or less; says how many were sent.
    pub fn send(&mut self, stream: &TcpStream, bytes: usize) -> rustix::io::Result<usize> {
        let data = &self.data[..bytes];
        match &mut self.way {
            Way::Write => rustix::io::write(stream, data),
            Way::Record => send(stream, data, SendFlags::EOR),
            Way::Writev => {
                let parts: Vec<_> = data
                    .chunks(bytes.div_ceil(PARTS).max(1))
                    .map(IoSlice::new)
                    .collect();
                rustix::io::writev(stream, &parts)
            }
            Way::Sendmmsg => sendmmsg(stream, data),
            Way::Sendfile(file) => sendfile(stream, file, Some(&mut 0), bytes),
            Way::Splice { read, write, inside } => {
                if *inside == 0 {
                    *inside = rustix::io::write(write, &data[..bytes.min(PIPE_BYTES)])?;
                }
                let sent = splice(read, None, stream, None, *inside, SpliceFlags::empty())?;
                *inside -= sent;
                Ok(sent)
            }
        }
    }
}

fn sendmmsg(stream: &TcpStream, data: &[u8]) -> rustix::io::Result<usize> {
    let mut parts: Vec<libc::iovec> = data
        .chunks(data.len().div_ceil(PARTS).max(1))
        .map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        })
        .collect();
    let mut messages: Vec<libc::mmsghdr> = parts
        .iter_mut()
        .map(|part| {
            // SAFETY: an all-zero msghdr is valid: no name, no control data, no parts.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_name = ptr::null_mut();
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message
        })
        .collect();
    // SAFETY: every message points at one live iovec, which points into `data`; the kernel only reads the data.
    let sent = unsafe {
        libc::sendmmsg(
            stream.as_raw_fd(),
            messages.as_mut_ptr(),
            messages.len() as u32,
            0,
        )
    };
    if sent < 0 {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok(messages
        .iter()
        .take(sent as usize)
        .map(|message| message.msg_len as usize)
        .sum())
}
