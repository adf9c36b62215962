//! What the API says of a real host is what docs/openapi.json says it answers. Needs root and BPF.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};

use serde_json::Value;
use tcpwin_agent::config::{Config, File, Overrides, SourceChoice};
use tcpwin_agent::exporter::Exporter;
use tcpwin_agent::{api, daemon};

#[path = "support/openapi.rs"]
mod contract;
#[path = "support/netns.rs"]
mod netns;

/// Connections that the agent has to tell of, both ends of each.
const CONNECTIONS: usize = 5;

#[test]
fn real_answers_keep_to_the_document() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let document: Value = serde_json::from_str(include_str!("../../docs/openapi.json")).expect("JSON");
    let contract = contract::Contract::of(&document);
    let config = Config::merge(File::default(), Overrides::default());
    let opened = daemon::open_source(SourceChoice::Ebpf, &config).expect("the probes attach");
    let pipeline = daemon::start_pipeline(opened, &config).expect("a thread");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let place = api::Place::Tcp("127.0.0.1:0".parse().expect("an address"));
    let listeners = api::bind(&[place]).expect("a free port");
    let address = listeners[0].address().expect("of TCP");
    let handle = pipeline.handle();
    let site = api::Site {
        telemetry_path: "/metrics".to_owned(),
        ..api::Site::default()
    };
    let routes = api::routes(handle.clone(), Exporter::new(handle.watch(), false), site);
    let server = runtime.block_on(async { api::serve(listeners, routes, api::Web::none()) });

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let held: Vec<_> = (0..CONNECTIONS).map(|_| connected(&listener)).collect();
    // Some ticks, so that there are intervals to tell of.
    runtime.block_on(async {
        let mut ticks = handle.watch();
        ticks
            .wait_for(|snapshot| snapshot.tick >= 3)
            .await
            .map(drop)
            .expect("it runs");
    });

    let client: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let ask = |path: &str| -> Value {
        let mut answer = client
            .get(format!("http://{address}{path}"))
            .call()
            .expect("an answer");
        serde_json::from_str(&answer.body_mut().read_to_string().expect("text")).expect("JSON")
    };
    let mut asked = 0;
    for (path, described) in document["paths"].as_object().expect("paths") {
        let content = &described["get"]["responses"]["200"]["content"]["application/json"];
        let Some(name) = content["schema"]["$ref"]
            .as_str()
            .and_then(|target| target.rsplit('/').next())
        else {
            continue;
        };
        if path.contains('{') {
            continue;
        }
        assert_eq!(contract.fault(name, &ask(path)), None, "{path}");
        asked += 1;
    }
    assert_eq!(asked, 8);
    let port = listener.local_addr().expect("bound").port();
    let list = ask(&format!(
        "/api/v1/connections?filter=local%3D:{port}+or+peer%3D:{port}"
    ));
    let ours = list["connections"].as_array().expect("a list");
    assert!(ours.len() >= 2 * CONNECTIONS, "{list}");
    let one = ask(&format!(
        "/api/v1/connections/{}",
        ours[0]["id"].as_str().expect("an id")
    ));
    assert_eq!(contract.fault("Connection", &one), None, "{one}");

    drop(held);
    runtime.block_on(server.stop(std::time::Duration::from_secs(20)));
    pipeline.stop().expect("it ends well");
}

/// Both ends of a connection that something went over.
fn connected(listener: &TcpListener) -> (TcpStream, TcpStream) {
    let mut client = TcpStream::connect(listener.local_addr().expect("bound")).expect("a listener");
    let (server, _) = listener.accept().expect("the client");
    client.write_all(b"ping").expect("open");
    (client, server)
}
