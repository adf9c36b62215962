//! The accept loop and the limits of a connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{sleep, timeout};

use super::access::Peer;
use super::bind::{Listener, Name, Socket, UnixSocket};
use super::stall::StallGuard;

/// HTTP connections at once, all listeners together; further ones wait in the kernel's queue.
const CONNECTIONS: usize = 256;

/// Time to send a request's head, idle time between requests included: above a scrape's usual minute.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);

/// Largest head of a request, bytes.
const HEAD_BYTES: usize = 16 << 10;

/// How long an answer may wait for its reader.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// How long accepting rests when the process is out of files.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// The running server.
#[derive(Debug)]
pub struct Server {
    stop: watch::Sender<bool>,
    open: mpsc::Receiver<()>,
}

impl Server {
    /// Accepts nothing more, lets open requests end within `grace`.
    pub async fn stop(mut self, grace: Duration) {
        self.stop.send_replace(true);
        // Every task holds a sender that it never uses: the channel ends with the last of them.
        if timeout(grace, self.open.recv()).await.is_err() {
            tracing::debug!("HTTP requests still open after {grace:?} are cut");
        }
    }
}

/// Serves on every listener; must be called on the runtime that is to serve.
#[must_use]
pub fn serve(listeners: Vec<Listener>, routes: Router) -> Server {
    let (stop, stopping) = watch::channel(false);
    let (alive, open) = mpsc::channel(1);
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    for listener in listeners {
        let place = listener.to_string();
        match Incoming::new(listener) {
            Ok(incoming) => {
                let acceptor = Acceptor {
                    incoming,
                    routes: routes.clone(),
                    permits: Arc::clone(&permits),
                    stopping: stopping.clone(),
                    alive: alive.clone(),
                };
                tokio::spawn(acceptor.run());
            }
            Err(error) => tracing::error!("cannot serve on {place}: {error}"),
        }
    }
    Server { stop, open }
}

/// A listening socket on the runtime.
enum Incoming {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// Goes with the socket.
        _name: Name,
    },
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Incoming {
    fn new(listener: Listener) -> io::Result<Self> {
        Ok(match listener.0 {
            Socket::Tcp(listener, _) => Self::Tcp(TcpListener::from_std(listener)?),
            Socket::Unix(UnixSocket { listener, name }) => Self::Unix {
                listener: UnixListener::from_std(listener)?,
                _name: name,
            },
        })
    }

    /// Cancel-safe.
    async fn accept(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Stream::Tcp(stream), Peer::Tcp(peer)))
            }
            Self::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream), Peer::Unix))
            }
        }
    }
}

struct Acceptor {
    incoming: Incoming,
    routes: Router,
    permits: Arc<Semaphore>,
    stopping: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
}

impl Acceptor {
    async fn run(mut self) {
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.incoming, &self.permits) => accepted,
                () = stopped(&mut self.stopping) => return,
            };
            let Some((stream, peer, permit)) = accepted else {
                continue;
            };
            let (routes, stopping) = (self.routes.clone(), self.stopping.clone());
            let alive = self.alive.clone();
            tokio::spawn(async move {
                match stream {
                    Stream::Tcp(stream) => talk(stream, peer, routes, stopping).await,
                    Stream::Unix(stream) => talk(stream, peer, routes, stopping).await,
                }
                drop((permit, alive));
            });
        }
    }
}

/// Ready once the server is told to stop, or is gone.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

async fn accept(
    incoming: &Incoming,
    permits: &Arc<Semaphore>,
) -> Option<(Stream, Peer, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match incoming.accept().await {
        Ok((stream, peer)) => Some((stream, peer, permit)),
        Err(error) => {
            tracing::debug!("accept: {error}");
            sleep(ACCEPT_REST).await;
            None
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: Peer,
    routes: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(StallGuard::new(stream, WRITE_PATIENCE)), service);
    tokio::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stopped(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(?peer, "HTTP: {error}");
    }
}
