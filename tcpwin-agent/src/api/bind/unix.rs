//! A listening socket with a name in the file system.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};

use super::BindError;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// A bound socket and its name.
#[derive(Debug)]
pub(in crate::api) struct UnixSocket {
    pub(in crate::api) listener: UnixListener,
    pub(in crate::api) name: Name,
}

/// The socket's name; taken away with the value, unless it has become another socket's.
#[derive(Debug)]
pub(in crate::api) struct Name {
    pub(in crate::api) path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl Drop for Name {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            // Nothing more can be done about it; the next agent replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Binds a socket and gives it `path` and the permissions `mode`. A socket there that nobody listens on, left behind by an
/// agent that was killed, is replaced; anything else is not.
pub(super) fn bind_at(path: &Path, mode: u32) -> Result<UnixSocket, BindError> {
    let failed = |cause: io::Error| BindError::Unix {
        path: path.to_owned(),
        cause,
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(BindError::NotASocket {
                path: path.to_owned(),
            });
        }
        Ok(_) => match UnixStream::connect(path) {
            Ok(_) => {
                return Err(BindError::SocketInUse {
                    path: path.to_owned(),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(failed(error)),
        },
    }
    make(path, mode).map_err(failed)
}

/// Under another name first: nobody finds a socket whose permissions are not set yet, and the rename replaces a stale one in
/// one step.
fn make(path: &Path, mode: u32) -> io::Result<UnixSocket> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let hidden = path.with_file_name(name);
    let made = bound(&hidden).and_then(|listener| {
        fs::set_permissions(&hidden, Permissions::from_mode(mode))?;
        let identity = identity(&hidden)?;
        fs::rename(&hidden, path)?;
        let path = path.to_owned();
        Ok(UnixSocket {
            listener,
            name: Name { path, identity },
        })
    });
    if made.is_err() {
        // What failed is told, not that it left nothing behind.
        let _ = fs::remove_file(&hidden);
    }
    made
}

fn bound(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The file is made with the socket's own mode (unix_bind): from the first moment it is nobody else's.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn it_has_its_mode_and_goes_with_the_value() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tcpwin.sock");
        let socket = bind_at(&path, 0o660).unwrap();
        assert_eq!(mode_of(&path), 0o660);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        drop(socket);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stale_one_is_replaced_and_a_live_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tcpwin.sock");
        // Left behind, as after a kill.
        drop(UnixListener::bind(&path).unwrap());
        let live = bind_at(&path, 0o600).unwrap();
        assert_eq!(mode_of(&path), 0o600);
        let error = bind_at(&path, 0o600).unwrap_err().to_string();
        assert!(error.contains("listens there already"), "{error}");
        // Somebody put another in its place: that is not ours to take away.
        fs::remove_file(&path).unwrap();
        let other = UnixListener::bind(&path).unwrap();
        drop(live);
        assert!(path.exists());
        drop(other);
    }

    #[test]
    fn a_file_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tcpwin.sock");
        fs::write(&path, "precious").unwrap();
        let error = bind_at(&path, 0o600).unwrap_err().to_string();
        assert!(error.contains("is no socket"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        let nowhere = dir.path().join("no/tcpwin.sock");
        let error = bind_at(&nowhere, 0o600).unwrap_err().to_string();
        assert!(
            error.contains("tcpwin.sock") && error.contains("directory"),
            "{error}"
        );
    }
}
