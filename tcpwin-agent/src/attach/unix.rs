//! HTTP over a unix socket.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// Connects to one socket, whatever the address asked for.
#[derive(Debug)]
pub(super) struct UnixConnector(pub(super) PathBuf);

impl<In: Transport> Connector<In> for UnixConnector {
    type Out = UnixTransport;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<In>,
    ) -> Result<Option<UnixTransport>, Error> {
        let stream = UnixStream::connect(&self.0)?;
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(UnixTransport { stream, buffers }))
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct UnixTransport {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl Transport for UnixTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let timeout = timeout.for_write();
        let patience = timeout.not_zero().map(|time| *time);
        self.stream.set_write_timeout(patience)?;
        let written = self.stream.write_all(&self.buffers.output()[..amount]);
        written.map_err(|error| timed(error, &timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let timeout = timeout.for_read();
        let patience = timeout.not_zero().map(|time| *time);
        self.stream.set_read_timeout(patience)?;
        let read = self.stream.read(self.buffers.input_append_buf());
        let amount = read.map_err(|error| timed(error, &timeout))?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// The other end has not closed it: there is nothing to read, not even an end.
    fn is_open(&mut self) -> bool {
        let open = self.stream.set_nonblocking(true).and_then(|()| {
            let read = self.stream.read(&mut [0]);
            self.stream.set_nonblocking(false)?;
            read
        });
        open.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// A socket whose time is up says that it would block.
fn timed(error: io::Error, timeout: &NextTimeout) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::Timeout(timeout.reason),
        _ => error.into(),
    }
}
