//! Against agents that are played.

use std::io::Write as _;
use std::net::TcpListener;

use super::*;

#[test]
fn events_are_read_to_the_end() {
    let stream = ": sign of life\n\n\
        event: reset\ndata: {\"event\":\"reset\",\"ts_ns\":5,\"id\":\"7\",\"netns\":1,\"local\":\"a\",\"peer\":\"b\",\"sent\":true}\n\n\
        event: missed\ndata: {\"event\":\"missed\",\"count\":9}\n\n\
        event: later\ndata: {\"event\":\"later\"}\n\n";
    let (tell, mut told) = mpsc::channel(8);
    read_events(stream.as_bytes(), &tell);
    drop(tell);
    assert!(
        matches!(told.try_recv().unwrap(), Told::Event(event) if matches!(*event, TraceEvent::Reset { ts_ns: 5, .. }))
    );
    assert_eq!(told.try_recv().unwrap(), Told::Missed(9));
    assert!(matches!(told.try_recv().unwrap(), Told::Broken(why) if why.contains("`later`")));
    assert!(told.try_recv().is_err());
}

#[test]
fn an_agent_that_knows_nothing_of_changes_is_asked_for_all() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let agent = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for stream in listener.incoming().take(4) {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            lines.read_line(&mut line).unwrap();
            let mut header = String::new();
            while lines.read_line(&mut header).unwrap() > 2 {
                header.clear();
            }
            let path = line.split(' ').nth(1).unwrap().to_owned();
            let (status, body) = match path.as_str() {
                "/healthz" => (200, r#"{"service":"tcpwin","version":"0.0.0"}"#.to_owned()),
                "/api/v1/snapshot" => (200, serde_json::to_string(&Snapshot::default()).unwrap()),
                _ => (400, r#"{"error":"unknown field `since`"}"#.to_owned()),
            };
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            stream.write_all((head + &body).as_bytes()).unwrap();
            asked.push(path);
        }
        asked
    });
    let mut attached = Attached::connect(&place, &Login::default()).unwrap();
    attached.latest().unwrap();
    attached.latest().unwrap();
    let asked = agent.join().unwrap();
    let all = "/api/v1/snapshot";
    assert_eq!(asked, ["/healthz", "/api/v1/snapshot?since=0", all, all]);
}

#[test]
fn nobody_there_says_what_to_do() {
    let error = Attached::connect("127.0.0.1:1", &Login::default()).unwrap_err();
    assert!(matches!(error, AttachError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("tcpwin agent"), "{error}");
}
