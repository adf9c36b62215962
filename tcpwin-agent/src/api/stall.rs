//! A stream whose other end must not stand still, whether it reads or asks.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::exporter::{HttpCounts, Refused};

use super::crowd::Seat;

/// How long an answer may wait for its reader.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// Time for the head of a request, from its first byte on.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// Fails a write that the other end holds up for too long, so that what it did not read is freed; and a read when the rest
/// of a head does not come, however steadily its bytes drip.
#[derive(Debug)]
pub(super) struct StallGuard<S> {
    stream: S,
    /// Whose heads are timed; none below TLS, where bytes are not yet a request.
    seat: Option<Arc<Seat>>,
    counts: Arc<HttpCounts>,
    deadline: Pin<Box<Sleep>>,
    stalled: bool,
    head_deadline: Pin<Box<Sleep>>,
}

impl<S> StallGuard<S> {
    pub(super) fn new(stream: S, seat: Arc<Seat>, counts: Arc<HttpCounts>) -> Self {
        Self::with(stream, Some(seat), counts)
    }

    /// Of the stream below TLS, which takes writes before the other end has read them.
    pub(super) fn below_tls(stream: S, counts: Arc<HttpCounts>) -> Self {
        Self::with(stream, None, counts)
    }

    fn with(stream: S, seat: Option<Arc<Seat>>, counts: Arc<HttpCounts>) -> Self {
        Self {
            stream,
            seat,
            counts,
            deadline: Box::pin(sleep(WRITE_PATIENCE)),
            stalled: false,
            head_deadline: Box::pin(sleep(HEAD_PATIENCE)),
        }
    }

    fn judge<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = false;
            return written;
        }
        if !self.stalled {
            self.stalled = true;
            self.deadline.as_mut().reset(Instant::now() + WRITE_PATIENCE);
        }
        ready!(self.deadline.as_mut().poll(context));
        self.counts.refuse(Refused::Unread);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Fails once the head that is coming took too long.
    fn judge_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(began) = self.seat.as_ref().and_then(|seat| seat.asks_since()) else {
            return Poll::Pending;
        };
        let until = began + HEAD_PATIENCE;
        if self.head_deadline.deadline() != until {
            self.head_deadline.as_mut().reset(until);
        }
        ready!(self.head_deadline.as_mut().poll(context));
        self.counts.refuse(Refused::Slow);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            return self.judge_head(context);
        }
        if let Some(seat) = &self.seat
            && buffer.filled().len() > before
        {
            seat.heard();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::crowd::Crowd;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn guarded<S>(stream: S) -> (StallGuard<S>, Arc<HttpCounts>, Arc<Seat>) {
        let counts = Arc::<HttpCounts>::default();
        let seat = Crowd::new(Arc::clone(&counts)).enter(None).unwrap().seat();
        let guarded = StallGuard::new(stream, Arc::clone(&seat), Arc::clone(&counts));
        (guarded, counts, seat)
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_is_given_up_and_a_pause_between_requests_is_not() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let (mut guarded, counts, seat) = guarded(ours);
        let dripping = tokio::spawn(async move {
            sleep(Duration::from_secs(60)).await;
            theirs.write_all(b"G").await.unwrap();
            sleep(Duration::from_secs(5)).await;
            theirs.write_all(b"!").await.unwrap();
            sleep(Duration::from_secs(60)).await;
            while theirs.write_all(b"x").await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let mut byte = [0];
        while byte != *b"!" {
            guarded.read_exact(&mut byte).await.unwrap();
        }
        drop(seat.answer());
        let began = Instant::now();
        let error = loop {
            if let Err(error) = guarded.read_exact(&mut byte).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 70);
        assert_eq!(counts.refused(Refused::Slow), 1);
        drop(guarded);
        dripping.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stands_still_is_given_up() {
        let (ours, _theirs) = tokio::io::duplex(16);
        let (mut guarded, counts, _) = guarded(ours);
        let error = guarded.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(counts.refused(Refused::Unread), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn below_tls_nothing_is_a_head() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let counts = Arc::<HttpCounts>::default();
        let mut guarded = StallGuard::below_tls(ours, Arc::clone(&counts));
        theirs.write_all(b"x").await.unwrap();
        let mut byte = [0];
        guarded.read_exact(&mut byte).await.unwrap();
        let waited = tokio::time::timeout(Duration::from_secs(60), guarded.read_exact(&mut byte));
        assert!(waited.await.is_err(), "it waits still");
        let error = guarded.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(counts.refused(Refused::Unread), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_not() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let (mut guarded, _, _) = guarded(ours);
        let reader = tokio::spawn(async move {
            let mut part = [0; 16];
            for _ in 0..4 {
                sleep(Duration::from_secs(20)).await;
                theirs.read_exact(&mut part).await.unwrap();
            }
        });
        guarded.write_all(&[0; 64]).await.unwrap();
        reader.await.unwrap();
    }
}
