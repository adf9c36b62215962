//! The accept loop and the limits of a connection.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::exporter::{HttpCounts, Refused};

use super::access::{Caller, Peer};
use super::bind::{Listener, Name, Socket, UnixSocket};
use super::crowd::{Answering, Crowd, Guest};
use super::gate::Gate;
use super::stall::StallGuard;
use super::web::{TlsSide, Web};

/// Time until the next request's head is there: above a scrape's usual minute.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// Time for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Largest head of a request, bytes.
const HEAD_BYTES: usize = 16 << 10;

/// Most headers in it.
const HEADERS: usize = 64;

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
pub fn serve(listeners: Vec<Listener>, routes: Router, web: Web) -> Server {
    let (stop, stopping) = watch::channel(false);
    let (alive, open) = mpsc::channel(1);
    let crowd = Crowd::new(web.counts());
    for listener in listeners {
        let place = listener.to_string();
        match Incoming::new(listener) {
            Ok(incoming) => {
                let acceptor = Acceptor {
                    incoming,
                    routes: routes.clone(),
                    crowd: crowd.clone(),
                    web: web.clone(),
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
    crowd: Crowd,
    web: Web,
    stopping: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
}

impl Acceptor {
    async fn run(mut self) {
        loop {
            let accepted = tokio::select! {
                accepted = self.incoming.accept() => accepted,
                () = stopped(&mut self.stopping) => return,
            };
            match accepted {
                Ok((stream, peer)) => self.receive(stream, peer),
                Err(error) => {
                    tracing::debug!("accept: {error}");
                    sleep(ACCEPT_REST).await;
                }
            }
        }
    }

    fn receive(&self, stream: Stream, peer: Peer) {
        // Without a place it is closed.
        let Some(guest) = self.crowd.enter(peer.neighbourhood()) else {
            return;
        };
        let visit = Visit {
            guest,
            routes: self.routes.clone(),
            web: self.web.clone(),
            stopping: self.stopping.clone(),
        };
        let alive = self.alive.clone();
        tokio::spawn(async move {
            visit.run(stream, peer).await;
            drop(alive);
        });
    }
}

/// Ready once the server is told to stop, or is gone.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// One connection, from its start to its end.
struct Visit {
    guest: Guest,
    routes: Router,
    web: Web,
    stopping: watch::Receiver<bool>,
}

impl Visit {
    async fn run(self, stream: Stream, peer: Peer) {
        let told = tokio::select! {
            () = self.guest.told_to_leave() => true,
            () = self.attend(stream, peer) => false,
        };
        if told {
            tracing::debug!(?peer, "HTTP: closed to make room");
        }
    }

    async fn attend(&self, stream: Stream, peer: Peer) {
        let plain = Caller {
            peer,
            authenticated: false,
        };
        match (stream, peer) {
            (Stream::Unix(stream), _) => self.talk(stream, plain).await,
            (Stream::Tcp(stream), Peer::Tcp(address)) => match self.web.current().tls() {
                None => self.talk(stream, plain).await,
                Some(side) => self.talk_tls(stream, address, side.clone()).await,
            },
            (Stream::Tcp(_), Peer::Unix) => {}
        }
    }

    async fn talk_tls(&self, stream: TcpStream, address: SocketAddr, side: TlsSide) {
        let mut stopping = self.stopping.clone();
        let shaken = tokio::select! {
            shaken = timeout(HANDSHAKE_TIMEOUT, handshake(stream, &side, self.web.counts())) => shaken,
            () = stopped(&mut stopping) => return,
        };
        let stream = match shaken {
            Ok(Ok(stream)) => stream,
            failed => {
                self.web.counts().refuse(Refused::Handshake);
                let why = failed.map_or_else(
                    |_| "too slow".to_owned(),
                    |outcome| match outcome {
                        Ok(_) => String::new(),
                        Err(error) => error.to_string(),
                    },
                );
                tracing::debug!(peer = %address, "TLS handshake: {why}");
                return;
            }
        };
        let showed_one = stream.get_ref().1.peer_certificates().is_some();
        let caller = Caller {
            peer: Peer::Tcp(address),
            authenticated: side.verifies_clients && showed_one,
        };
        self.talk(stream, caller).await;
    }

    async fn talk(&self, stream: impl AsyncRead + AsyncWrite + Unpin, caller: Caller) {
        let gate = Gate::new(self.web.clone(), caller);
        let routes = TowerToHyperService::new(self.routes.clone());
        let seat = self.guest.seat();
        let service = service_fn(|mut request: hyper::Request<hyper::body::Incoming>| {
            let (gate, routes, answering) = (gate.clone(), routes.clone(), seat.answer());
            async move {
                let mut response = match gate.admit(&mut request).await {
                    Ok(()) => routes.call(request).await?,
                    Err(refusal) => *refusal,
                };
                gate.finish(&mut response);
                Ok::<Response, Infallible>(response.map(|body| {
                    Body::new(Watched {
                        body,
                        _answering: answering,
                    })
                }))
            }
        });
        let guarded = StallGuard::new(stream, self.guest.seat(), self.web.counts());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE_TIMEOUT)
            .max_buf_size(HEAD_BYTES)
            .max_headers(HEADERS)
            .serve_connection(TokioIo::new(guarded), service);
        tokio::pin!(connection);
        let mut stopping = self.stopping.clone();
        let outcome = tokio::select! {
            outcome = connection.as_mut() => outcome,
            () = stopped(&mut stopping) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = outcome {
            if error.is_parse() {
                self.web.counts().refuse(Refused::Head);
            }
            tracing::debug!(peer = ?caller.peer, "HTTP: {error}");
        }
    }
}

/// The first byte of a TLS record that begins a handshake (RFC 8446, section 5.1).
const HANDSHAKE_RECORD: u8 = 22;

async fn handshake(
    mut stream: TcpStream,
    side: &TlsSide,
    counts: Arc<HttpCounts>,
) -> io::Result<TlsStream<StallGuard<TcpStream>>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first[0] != HANDSHAKE_RECORD {
        // A sentence, since a person may have left the `s` out.
        let told = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\
                    TLS is spoken here: ask with https://\n";
        stream.write_all(told.as_bytes()).await?;
        stream.shutdown().await?;
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the client does not speak TLS",
        ));
    }
    TlsAcceptor::from(Arc::clone(&side.config))
        .accept(StallGuard::below_tls(stream, counts))
        .await
}

/// A body that says when it has gone.
struct Watched {
    body: Body,
    _answering: Answering,
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
