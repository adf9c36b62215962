use std::net::TcpListener;

use super::*;
use crate::observation::Key;

fn listener(local: &str, accept_queue: u32, backlog: u32) -> Listening {
    Listening {
        key: Key { cookie: 1, netns: 1 },
        local: local.parse().unwrap(),
        inode: None,
        accept_queue,
        backlog,
        congestion: None,
    }
}

#[test]
fn a_queue_is_full_when_it_holds_one_more_than_its_backlog() {
    let all = [
        listener("[::]:80", 0, 0),
        listener("[::]:81", 128, 128),
        listener("[::]:82", 5, 4),
    ];
    assert_eq!(
        queues(&all),
        AcceptQueues {
            listeners: 3,
            waiting: 133,
            full: 1,
            fullest: 1.25,
        }
    );
    assert_eq!(queues(&[]).fullest, 0.0);
}

#[test]
fn a_listener_of_this_process_is_found_with_its_holder_and_then_gone() {
    let mut survey = Survey::default();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = socket.local_addr().unwrap().to_string();
    let second = |number: u64| Instant(number * 1_000_000_000);
    let found = |survey: &Survey| {
        survey
            .listeners()
            .into_iter()
            .find(|listener| listener.local == local)
    };
    survey.tick(second(1));
    let listener = found(&survey).unwrap();
    assert_eq!(listener.accept_queue, 0);
    assert_eq!(listener.process, None);
    // Steps of a bounded search: as many as the machine's open files need.
    let process = (2..10_000).find_map(|number| {
        survey.tick(second(number));
        found(&survey)?.process
    });
    assert_eq!(process.unwrap().pid, std::process::id());
    drop(socket);
    survey.freshen(second(20_000));
    assert!(found(&survey).is_none());
    assert!(survey.facts().uptime_s.is_some());
}
