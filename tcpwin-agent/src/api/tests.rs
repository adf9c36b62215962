//! A server over a scripted loop, and what tests ask it.

mod attach;
mod live;
mod openapi;
mod pages;
mod select;
mod serving;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Runtime;

use super::*;
use crate::classify::{Direction, Limit, Side};
use crate::observation::Origin;
use crate::snapshot::feed::{self, Request};
use crate::snapshot::{Ceiling, Connection, Health, Process, Sample, Snapshot, TcpFields, Watch};

fn connection(id: u32, limit: Limit, rate_bps: f64) -> Arc<Connection> {
    Arc::new(Connection {
        id: id.to_string(),
        netns: 4_026_531_840 + id % 2,
        local: format!("192.0.2.1:{}", 1_000 + id),
        peer: format!("198.51.100.{}:443", id % 250),
        direction: Direction::Send,
        process: (id.is_multiple_of(2)).then(|| Process {
            pid: id,
            name: "curl".to_owned(),
        }),
        cgroup: None,
        origin: Origin::Accept,
        age_us: id.into(),
        bound: limit.bound(),
        limit,
        side: Side::Nobody,
        confidence: 0.5,
        prevailing: None,
        rate_bps,
        send_bps: rate_bps,
        receive_bps: 0.0,
        ceiling_bps: None,
        ceiling_formula: None,
        next: (id == 3).then(|| Ceiling {
            limit: Limit::Bandwidth,
            rate_bps: 1e9,
            formula: String::new(),
        }),
        gain: None,
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: None,
        causes: Vec::new(),
        proof: String::new(),
        remedies: Vec::new(),
        tcp: TcpFields::default(),
        calls: None,
    })
}

fn snapshot(connections: u32) -> Snapshot {
    let limit = |id: u32| {
        if id.is_multiple_of(2) {
            Limit::RwndScale
        } else {
            Limit::App
        }
    };
    Snapshot {
        at_ns: 5,
        tick: 1,
        health: Health {
            source: "scripted".to_owned(),
            host: "<host>".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Health::default()
        },
        connections: (0..connections)
            .map(|id| connection(id, limit(id), f64::from(id)))
            .collect(),
        ..Snapshot::default()
    }
}

fn site() -> Site {
    Site {
        telemetry_path: "/metrics".to_owned(),
        ..Site::default()
    }
}

/// A server on a free port and the loop's end of its feed. Requests go over real sockets.
struct Served {
    runtime: Runtime,
    address: SocketAddr,
    server: Server,
    inlet: feed::Inlet,
    web: Web,
}

fn served(first: Snapshot) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let listeners = bind(&[Place::Tcp("127.0.0.1:0".parse().unwrap())]).unwrap();
    let address = listeners[0].address().unwrap();
    let (inlet, handle) = feed::channel(first);
    let routes = routes(handle.clone(), Exporter::new(handle.watch(), false), site());
    let web = Web::none();
    let server = runtime.block_on(async { serve(listeners, routes, web.clone()) });
    Served {
        runtime,
        address,
        server,
        inlet,
        web,
    }
}

impl Served {
    /// The answer while the loop, played here, gives `full` and takes subscriptions.
    fn ask(&mut self, path: &str, full: &Arc<Snapshot>) -> (u16, String) {
        let address = self.address;
        let path = path.to_owned();
        self.playing(full, move || get(address, &path))
    }

    fn playing<T: Send + 'static>(
        &mut self,
        full: &Arc<Snapshot>,
        client: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let mut client = self.runtime.spawn_blocking(client);
        self.runtime.block_on(async {
            loop {
                tokio::select! {
                    done = &mut client => return done.unwrap(),
                    Some(request) = self.inlet.requests.recv() => match request {
                        Request::Full(watch, answer) => drop(answer.send(watching(full, watch))),
                        Request::Changed(_, watch, answer) => {
                            drop(answer.send((*watching(full, watch)).clone()));
                        }
                        Request::Subscribe(answer) => drop(answer.send(self.inlet.events.subscribe())),
                        Request::Record(answer) => {
                            let (tell, told) = tokio::sync::mpsc::channel(2);
                            for part in ["what stood", ", what came"] {
                                tell.send(part.as_bytes().into()).await.unwrap();
                            }
                            drop(answer.send(Some(told)));
                        }
                        Request::Interval(_) => {}
                    }
                }
            }
        })
    }
}

/// `full`, with a sample that says of whom it is.
fn watching(full: &Arc<Snapshot>, watch: Option<Watch>) -> Arc<Snapshot> {
    let Some(watch) = watch else {
        return Arc::clone(full);
    };
    Arc::new(Snapshot {
        samples: vec![Sample {
            at_ns: watch.id.parse().unwrap(),
            cwnd: watch.netns,
            ..Sample::default()
        }],
        ..(**full).clone()
    })
}

fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let url = format!("http://{address}{path}");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let mut response = agent.get(url).call().unwrap();
    (
        response.status().as_u16(),
        response.body_mut().read_to_string().unwrap(),
    )
}

fn ids(answer: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(answer).unwrap();
    let connections = value["connections"].as_array().unwrap();
    connections
        .iter()
        .map(|each| each["id"].as_str().unwrap().to_owned())
        .collect()
}
